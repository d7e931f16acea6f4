"""The words of the small English: what each is, and what can be said of it.

A noun's kind decides which adjectives, predicates and verbs suit it, so that the next word often
depends on who or what the sentence is about. To add a word, add it to one line here.
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


class Profession(NamedTuple):
    """A singular noun and where such a person works."""

    noun: str
    place: str


def _nouns(kind: str, words: str, gender: str | None = None) -> list[Noun]:
    """ "key fox/foxes" → key, keys and fox, foxes."""
    pairs = [(word.split("/") + [f"{word}s"])[:2] for word in words.split()]
    return [Noun(singular, plural, kind, gender) for singular, plural in pairs]


def _verbs(text: str) -> list[Verb]:
    """ "walk, run/ran, try/tries/tried": the base, then what is irregular."""
    verbs = []
    for word in text.split(", "):
        base, *forms = word.split("/")
        third = forms[0] if len(forms) == 2 else _add_s(base)
        past = forms[-1] if forms else f"{base}d" if base.endswith("e") else f"{base}ed"
        verbs.append(Verb(third, base, past))
    return verbs


def _add_s(base: str) -> str:
    return f"{base}es" if base.endswith(("s", "sh", "ch", "x", "o")) else f"{base}s"


WOMEN = (
    "Mary Alice Emma Anna Julia Sarah Lucy Clara Nina Laura Eva Rosa Ruth Helen Jane Sophie "
    "Marie Grace Diana Iris Kate Susan Olivia Maria"
).split()
MEN = (
    "John Tom Paul Peter Mark David Adam Luke Hugo Simon Leo Max Oscar Henry Jack Sam Eric Daniel "
    "Victor Louis Bob James George Ben"
).split()
SURNAMES = (
    "Stone Reed Hill Brown Baker Carter Cooper Fisher Gray Hunt Lake Marsh Moore North Parker "
    "Porter Shaw Snow Turner Ward West Wood Young Bell"
).split()

NOUNS = [
    *_nouns("animal", "animal cat dog horse bird fox/foxes mouse/mice cow wolf/wolves duck rabbit"),
    *_nouns("animal", "bear lion goat frog hen"),
    *_nouns("person", "teacher student doctor farmer child/children nurse baker singer judge"),
    *_nouns("person", "painter sailor soldier neighbour guard author manager friend"),
    *_nouns("person", "queen woman/women girl sister princess/princesses", "f"),
    *_nouns("person", "king man/men boy brother prince", "m"),
    *_nouns("food", "apple pear plum cake egg carrot lemon cherry/cherries onion loaf/loaves"),
    *_nouns("food", "sandwich/sandwiches tomato/tomatoes"),
    *_nouns("drink", "drink coffee"),
    *_nouns("metal", "key coin knife/knives ring sword bell spoon trophy/trophies"),
    *_nouns("paper", "book letter map newspaper card picture note story/stories ticket"),
    *_nouns("furniture", "cabinet box/boxes table chair lamp basket drawer shelf/shelves door"),
    *_nouns("furniture", "clock bag suitcase cup mat bed"),
    *_nouns("vehicle", "car train boat bus/buses bicycle ship"),
    *_nouns("plant", "tree flower bush/bushes"),
    *_nouns("place", "house garden school park bridge tower village station forest street river"),
    *_nouns("place", "shop church/churches kitchen room"),
]
PREDICATES = {
    "animal": "hungry tired wild tame asleep thirsty afraid",
    "person": "happy sad tired hungry kind clever angry busy polite",
    "food": "fresh ripe sweet sour rotten tasty",
    "drink": "cold hot sweet strong",
    "metal": "rusty shiny heavy sharp bright",
    "paper": "torn famous boring secret funny interesting",
    "furniture": "wooden broken empty full dusty useful",
    "vehicle": "fast slow late noisy crowded",
    "plant": "tall dry green yellow pretty",
    "place": "quiet dark wide narrow beautiful crowded",
}
PREDICATES = {kind: words.split() for kind, words in PREDICATES.items()}
ADJECTIVES = (
    "old new small big red blue white black little strange lovely cheap good bad long grey quick "
    "lazy brown poor tiny"
).split()
_LIVING_ONLY = {"quick", "lazy", "poor"}
_THINGS_ONLY = {"new", "red", "blue", "cheap", "long"}
ADJECTIVES_OF = {
    kind: [
        word
        for word in ADJECTIVES
        if word not in (_THINGS_ONLY if kind in ("animal", "person") else _LIVING_ONLY)
    ]
    for kind in PREDICATES
}

# What each kind does. People's verbs are listed so that every name has a favourite one.
DOES = {
    "animal": _verbs("sleep/slept, run/ran, eat/ate, hide/hid, drink/drank, play, jump"),
    "person": _verbs("sing/sang, laugh, work, wait, smile, dance, cry/cries/cried, swim/swam"),
    "food": _verbs("rot/rots/rotted, ripen"),
    "drink": _verbs("steam, vanish"),
    "metal": _verbs("rust, shine/shone, gleam"),
    "paper": _verbs("fade, disappear"),
    "furniture": _verbs("creak, break/broke, fall/fell"),
    "vehicle": _verbs("stop/stops/stopped, arrive, leave/left"),
    "plant": _verbs("grow/grew, bloom"),
    "place": _verbs("change, flood"),
}
_ANY = tuple(PREDICATES)
_THINGS = ("food", "metal", "paper", "furniture")
# What one can do to what: verbs and the kinds of their objects.
DONE_BY_PEOPLE = [
    (verb, kinds)
    for verbs, kinds in (
        ("see/saw, like, find/found, love, know/knew, remember", _ANY),
        ("take/took, buy/bought, lose/lost, want, bring/brought, hide/hid", _THINGS),
        ("eat/ate, cook", ("food",)),
        ("drink/drank, spill", ("drink",)),
        ("read/read, write/wrote, send/sent", ("paper",)),
        ("open, close, clean, paint, repair, move", ("furniture",)),
        ("polish, steal/stole", ("metal",)),
        ("feed/fed, catch/caught", ("animal",)),
        ("help, call, thank, meet/met, follow", ("person",)),
        ("visit, leave/left", ("place",)),
        ("water, plant", ("plant",)),
        ("drive/drove, stop/stops/stopped", ("vehicle",)),
    )
    for verb in _verbs(verbs)
]
DONE_BY_ANIMALS = [
    (verb, kinds)
    for verbs, kinds in (
        ("see/saw, hear/heard, like, watch, find/found", ("animal", "person")),
        ("chase, follow", ("animal", "person")),
        ("eat/ate, want, steal/stole", ("food",)),
    )
    for verb in _verbs(verbs)
]
# Verbs that turn back on the one who acts, with the word that links them, if any.
REFLEXIVES = [
    (verb, link)
    for verbs, link in (
        ("enjoy, hurt/hurts/hurt, wash, dress, blame, praise, admire", None),
        ("look, laugh, smile", "at"),
        ("talk, sing/sang, lie/lies/lied", "to"),
    )
    for verb in _verbs(verbs)
]
HAVE_MET = _verbs("know/knew, help, thank, follow, call, meet/met, see/saw, like")
SAY, THINK, GIVE, SIT, GO = _verbs("say/says/said, think/thought, give/gave, sit/sat, go/goes/went")
ASK, ANSWER, FIT = _verbs("ask, answer, fit/fits/fit")
# For one, for several.
BE, BE_PAST, DO = ("is", "are"), ("was", "were"), ("does", "do")

PREPOSITIONS = "near behind beside under with".split()
PLACES_IN = "house garden school park village station forest shop church kitchen room".split()
PROFESSIONS = [
    Profession(*pair.split())
    for pair in (
        "doctor hospital,farmer field,teacher school,baker bakery,singer theatre,judge court,"
        "painter studio,sailor harbour,nurse hospital,student library"
    ).split(",")
]

# Kinds whose plurals may begin a sentence on their own ("Cats sleep.").
BARE_KINDS = ("animal", "person", "plant")
# Words of the grammar itself. Those that may begin a sentence exist with a capital too.
STARTERS = (
    "the a an this these every some two three many he she it they in near behind beside under "
    "when because then today yesterday later there where who"
).split()
OTHERS = (
    "is are was were does do did not very always too himself herself itself themselves him her "
    "them to at of about on with from that and but cross fit soft warm clean"
).split()
