"""The words of the small English: what each is, and what can be said of it.

A noun's kind decides which adjectives, predicates, verbs and neighbours suit it, so that the next
word often depends on who or what the sentence is about. To add a word, add it to one line here.
"""

from __future__ import annotations

from typing import NamedTuple


class Noun(NamedTuple):
    """singular, plural; kind: a key of PREDICATES; gender: "f" or "m" for some people."""

    singular: str
    plural: str
    kind: str
    gender: str | None = None

    def form(self, plural: bool) -> str:
        """The form for one or for several."""
        return self.plural if plural else self.singular


class Verb(NamedTuple):
    """The three forms: she sings, they sing, they sang."""

    third: str
    base: str
    past: str

    def form(self, plural: bool, past: bool) -> str:
        """The form that agrees with one or several, in the present or the past."""
        return self.past if past else self.base if plural else self.third


class Action(NamedTuple):
    """A verb and the kinds of things that it can be done to."""

    verb: Verb
    kinds: tuple[str, ...]


def _words(text: str) -> list[str]:
    return text.split()


def _nouns(kind: str, words: str, gender: str | None = None) -> list[Noun]:
    """Reads "key fox/foxes": key, keys and fox, foxes."""
    pairs = [[*word.split("/"), f"{word}s"][:2] for word in words.split()]
    return [Noun(singular, plural, kind, gender) for singular, plural in pairs]


def _verb(word: str) -> Verb:
    """Reads "walk", "run/ran" or "try/tries/tried": the base, then what is irregular."""
    base, *irregular = word.split("/")
    hisses = base.endswith(("s", "sh", "ch", "x", "o"))
    third = irregular[0] if len(irregular) == 2 else f"{base}es" if hisses else f"{base}s"
    past = irregular[-1] if irregular else f"{base}d" if base.endswith("e") else f"{base}ed"
    return Verb(third, base, past)


def _verbs(words: str) -> list[Verb]:
    return [_verb(word) for word in words.split()]


def _actions(table: dict[str, str]) -> list[Action]:
    return [
        Action(verb, tuple(PREDICATES) if kinds == "any" else tuple(kinds.split()))
        for words, kinds in table.items()
        for verb in _verbs(words)
    ]


# Each gender has as many names as the other, so that neither is the better guess.
WOMEN, MEN, SURNAMES = (
    words.split()
    for words in (
        "Mary Alice Emma Anna Julia Sarah Lucy Clara Nina Laura Eva Rosa Ruth Helen Jane Sophie "
        "Marie Grace Diana Iris Kate Susan Olivia Maria",
        "John Tom Paul Peter Mark David Adam Luke Hugo Simon Leo Max Oscar Henry Jack Sam Eric "
        "Daniel Victor Louis Bob James George Ben",
        "Stone Reed Hill Brown Baker Carter Cooper Fisher Gray Hunt Lake Marsh Moore North Parker "
        "Porter Shaw Snow Turner Ward West Wood Young Bell",
    )
)
NOUNS = [
    *_nouns("animal", "animal cat dog horse bird fox/foxes mouse/mice cow wolf/wolves duck rabbit"),
    *_nouns("animal", "bear lion goat frog hen"),
    *_nouns("person", "teacher student doctor farmer child/children nurse baker singer judge"),
    *_nouns("person", "painter sailor soldier neighbour guard author manager friend"),
    *_nouns("person", "queen woman/women girl sister", "f"),
    *_nouns("person", "king man/men boy brother", "m"),
    *_nouns("food", "apple pear plum cake egg carrot lemon cherry/cherries onion loaf/loaves"),
    *_nouns("food", "sandwich/sandwiches"),
    *_nouns("drink", "drink juice soup"),
    *_nouns("metal", "key coin knife/knives ring sword bell spoon trophy/trophies"),
    *_nouns("paper", "book letter map newspaper card picture note story/stories ticket"),
    *_nouns("container", "cabinet box/boxes basket drawer bag suitcase cup"),
    *_nouns("furniture", "table chair shelf/shelves bed mat lamp door clock"),
    *_nouns("vehicle", "car train boat bus/buses bicycle ship"),
    *_nouns("plant", "tree flower bush/bushes rose"),
    *_nouns("place", "house garden school park bridge tower village station forest street river"),
    *_nouns("place", "shop store church/churches kitchen room"),
]
PREDICATES = {
    kind: words.split()
    for kind, words in {
        "animal": "hungry tired wild tame asleep thirsty afraid",
        "person": "happy sad tired hungry kind clever angry busy",
        "food": "fresh ripe sweet sour rotten tasty",
        "drink": "cold hot sweet strong ready",
        "metal": "rusty shiny heavy sharp bright",
        "paper": "torn famous boring secret funny interesting",
        "container": "empty full open heavy wooden",
        "furniture": "wooden broken dusty useful dirty",
        "vehicle": "fast slow late noisy crowded",
        "plant": "tall dry green yellow pretty",
        "place": "quiet dark wide narrow beautiful crowded",
    }.items()
}
_FOR_ALL = _words("old small big white black little strange lovely good bad")
ADJECTIVES = {
    kind: _FOR_ALL + _words(more)
    for kind, more in {
        "animal": "quick lazy brown grey",
        "person": "poor young lazy quick",
        "food": "red cheap",
        "drink": "red cheap",
        "metal": "new cheap long",
        "paper": "new blue long",
        "container": "new red blue cheap",
        "furniture": "new red blue cheap",
        "vehicle": "new red blue grey",
        "plant": "red blue young",
        "place": "new grey long",
    }.items()
}
DOES = {
    kind: _verbs(words)
    for kind, words in {
        "animal": "sleep/slept run/ran eat/ate hide/hid drink/drank play jump",
        "person": "sing/sang laugh work wait smile dance cry/cries/cried swim/swam",
        "food": "rot/rots/rotted ripen spoil",
        "drink": "steam cool spill",
        "metal": "rust shine/shone gleam fall/fell",
        "paper": "fade disappear burn",
        "container": "close open leak",
        "furniture": "creak break/broke fall/fell",
        "vehicle": "stop/stops/stopped arrive leave/left",
        "plant": "grow/grew bloom die",
        "place": "change flood burn",
    }.items()
}
# What people and animals can do to what.
DONE_BY = {
    "person": _actions(
        {
            "see/saw like find/found love know/knew remember": "any",
            "take/took buy/bought lose/lost want bring/brought hide/hid": (
                "food drink metal paper container"
            ),
            "eat/ate cook": "food",
            "drink/drank spill": "drink",
            "read/read write/wrote": "paper",
            "open close carry/carries/carried": "container",
            "clean paint repair": "furniture",
            "steal/stole": "metal paper",
            "feed/fed catch/caught": "animal",
            "help call thank meet/met follow": "person",
            "visit leave/left": "place",
            "water plant": "plant",
            "drive/drove": "vehicle",
        }
    ),
    "animal": _actions(
        {
            "see/saw hear/heard like watch find/found": "animal person",
            "chase follow": "animal person",
            "eat/ate want steal/stole": "food",
        }
    ),
}
_BY_BASE = {action.verb.base: action for action in DONE_BY["person"]}
BUY, FIND, BRING = (_BY_BASE[base] for base in ("buy", "find", "bring"))
GIFTS = ("food", "drink", "metal", "paper", "container")
# What turns back on the one who does it, with the word between, if any.
REFLEXIVES = [
    (verb, link)
    for words, link in (
        ("enjoy hurt/hurts/hurt wash dress blame praise admire", None),
        ("look laugh smile", "at"),
        ("talk sing/sang lie/lies/lied", "to"),
    )
    for verb in _verbs(words)
]
MEETS = _verbs("know/knew help thank follow call meet/met see/saw like")
SAY, THINK, ASK, ANSWER = _verbs("say/says/said think/thought ask answer")
GIVE, GO, SIT, WORK, WASH = _verbs("give/gave go/goes/went sit/sat work wash")
# For one, for several.
BE, BE_PAST, DO = ("is", "are"), ("was", "were"), ("does", "do")

# Some nouns together, beside the kinds: where things lie, stand and are kept.
GROUPS = {kind: [noun for noun in NOUNS if noun.kind == kind] for kind in PREDICATES} | {
    name: [noun for noun in NOUNS if noun.singular in words.split()]
    for name, words in {
        "surface": "table chair shelf bed mat",
        "seat": "mat bed chair table box",
        "lock": "cabinet box door drawer suitcase house",
        "case": "suitcase box bag drawer cabinet basket cup",
        "crossing": "street river bridge park garden forest",
        "room": "house school church shop store kitchen room station",
        "outdoors": "garden park forest village street",
        "inside": "house garden school park village station forest shop store church kitchen room",
    }.items()
}
# How one thing stands to another: preposition and group, by the kind of the first.
RELATIONS = {
    kind: [
        (preposition, group)
        for part in table.split(";")
        for preposition in part.split(":")[0].split()
        for group in part.split(":")[1].split()
    ]
    for kind, table in {
        "animal": "near behind beside with: animal person; near: place; in: outdoors",
        "person": "near behind beside with: person animal; near: place; from: place; in: inside",
        "food": "on: surface surface; in: container; near beside behind: food; from: place",
        "drink": "on: surface surface; near beside behind: food drink; of: person",
        "metal": "to: lock lock; in: container; on under: surface; near beside behind: metal paper",
        "paper": "about of: person animal; from: person; on under: surface; in: container",
        "container": "on under: surface; in: room; near behind beside: furniture container",
        "furniture": "in: room room; near behind beside: furniture container",
        "vehicle": "near behind beside: vehicle place; from: place; in: outdoors",
        "plant": "near behind beside: place plant; in: outdoors",
        "place": "near behind beside: place plant; with: plant furniture",
    }.items()
}
FRONTED = ("near", "behind", "beside", "under", "in", "on")

PROFESSIONS = {
    "doctor": "hospital",
    "nurse": "hospital",
    "farmer": "field",
    "teacher": "school",
    "student": "library",
    "baker": "bakery",
    "singer": "theatre",
    "judge": "court",
    "painter": "studio",
    "sailor": "harbour",
}
# Nouns whose plurals may begin a sentence on their own ("Cats sleep.").
BARE = [noun for noun in NOUNS if noun.kind in ("animal", "person", "plant")]
# Words of the grammar itself: with a capital and without, only with one, only without.
EITHER_CASE = _words(
    "the a an this these every some two three many he she it they in near behind beside under on "
    "when because while then today yesterday there"
)
CAPITAL_ONLY = ["Where", "Who"]
SMALL_ONLY = _words(
    "is are was were does do did not very always too himself herself itself themselves him her "
    "them to at of about with from over that who and but cross fit big small soft warm clean 's"
)


def vocabulary() -> list[str]:
    """Every word that a story can hold, in a fixed order."""
    words = [*WOMEN, *MEN, *SURNAMES]
    words += [form for noun in NOUNS for form in (noun.singular, noun.plural)]
    words += [word for table in (PREDICATES, ADJECTIVES) for of in table.values() for word in of]
    verbs = [verb for of in DOES.values() for verb in of]
    verbs += [action.verb for of in DONE_BY.values() for action in of]
    verbs += [verb for verb, _ in REFLEXIVES]
    verbs += [*MEETS, SAY, THINK, ASK, ANSWER, GIVE, GO, SIT]
    words += [form for verb in verbs for form in verb]
    words += [word for profession in PROFESSIONS.items() for word in profession]
    words += [*EITHER_CASE, *map(str.capitalize, EITHER_CASE), *CAPITAL_ONLY, *SMALL_ONLY]
    words += [noun.plural.capitalize() for noun in BARE]
    return list(dict.fromkeys(words))
