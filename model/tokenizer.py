"""Any typed text as pieces: known words whole, other Latin letters singly, the rest as bytes.

White space is not part of a piece. A rule says which neighbours have one space between them, so
"mat." and "mat ." give the same word pieces; where a text departs from the rule, explicit pieces
(a space, a newline, a tab, or <join> for "no space here") say so, and nothing typed is lost.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from model.errors import HeadlightError

FORMAT, VERSION = "headlight tokenizer", 1
SPECIAL = ("<pad>", "<start>", "<end>", "<mask>")
WHITE = (" ", "\n", "\t")
JOIN = "<join>"
# The straight quote mark is two pieces, named by where their space goes: an opening mark is known
# by what stands before it, so no count of earlier quote marks is needed to write the text back.
OPEN_QUOTE, CLOSE_QUOTE = ' "', '"'
PUNCTUATION = tuple(".,;:!?'()[]{}<>/\\|-_+=*&%$#@^~`")
DIGITS = tuple("0123456789")
# ASCII, Latin-1 and Latin Extended-A. The pieces are written ##a, as in WordPiece, because "a",
# "A" and "I" are words too.
ALPHABET = tuple(
    letter for letter in map(chr, range(0x41, 0x180)) if letter.isalpha() and letter not in "ªµº"
)
LETTERS = tuple(f"##{letter}" for letter in ALPHABET)
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
QUOTES = (OPEN_QUOTE, CLOSE_QUOTE)
FALLBACK = (*SPECIAL, *WHITE, JOIN, *QUOTES, *PUNCTUATION, *DIGITS, *LETTERS, *BYTES)

_BYTE_OF = {piece: byte for byte, piece in enumerate(BYTES)}
_LETTER_CLASS = "A-Za-zÀ-ÖØ-öø-\u017f"
_WORD = re.compile(f"'?[{_LETTER_CLASS}]+")
_TOKEN = re.compile(f"[ \n\t]+|'?[{_LETTER_CLASS}]+|.", re.DOTALL)
_LABELS = {"<pad>": "pad", "<start>": "start", "<end>": "end", "<mask>": "mask", JOIN: "‿"}
_LABELS |= {" ": "␣", "\n": "⏎", "\t": "⇥", OPEN_QUOTE: '"'}


class Spacing(NamedTuple):
    """How a piece stands beside others: a space is due only where both neighbours want one."""

    before: bool = True
    after: bool = True
    spelled: bool = False  # no space is due between two pieces of something spelled out


def _spacing_table() -> dict[str, Spacing]:
    table = dict.fromkeys((*SPECIAL, *WHITE, JOIN, *"'-/\\_^~`|<>*"), Spacing(False, False))
    table |= dict.fromkeys((CLOSE_QUOTE, *".,;:!?)]}%"), Spacing(before=False))
    table |= dict.fromkeys((OPEN_QUOTE, *"([{$#@"), Spacing(after=False))
    table |= dict.fromkeys("+=&", Spacing())
    return table | dict.fromkeys((*DIGITS, *LETTERS, *BYTES), Spacing(spelled=True))


_SPACING = _spacing_table()


def spacing(piece: str) -> Spacing:
    """The spacing of a piece; a word with an apostrophe first ('s) leans on the one before it."""
    return _SPACING.get(piece) or Spacing(before=piece[0] != "'")


def _space_between(left: Spacing, right: Spacing) -> bool:
    return left.after and right.before and not (left.spelled and right.spelled)


def text_of(pieces: Iterable[str]) -> str:
    """The text that pieces stand for; special pieces are silent, stray bytes become U+FFFD.

    Each piece only adds to what stands before it, so a prefix of the pieces gives a prefix of the
    text (apart from a character whose bytes are cut).
    """
    written, left = bytearray(), Spacing(after=False)
    for piece in pieces:
        if piece in SPECIAL:
            continue
        right = spacing(piece)
        if _space_between(left, right):
            written += b" "
        if piece in _BYTE_OF:
            written.append(_BYTE_OF[piece])
        elif piece != JOIN:
            written += _surface(piece).encode()
        left = right
    return written.decode("utf-8", "replace")


def _surface(piece: str) -> str:
    """The characters a piece writes, without the marks that tell pieces apart."""
    if piece == OPEN_QUOTE:
        return CLOSE_QUOTE
    return piece[2:] if piece.startswith("##") else piece


class Tokenizer:
    """Turns any text into ids and back; the words are a model's own, the fallback is the same."""

    def __init__(self, words: Iterable[str]):
        words = tuple(words)
        for word in words:
            if not _WORD.fullmatch(word):
                raise HeadlightError(
                    f"{word!r} cannot be a word piece; a word has Latin letters only, "
                    "with at most one apostrophe, at its start."
                )
        self.pieces: tuple[str, ...] = (*FALLBACK, *words)
        self._id = {piece: index for index, piece in enumerate(self.pieces)}
        if len(self._id) != len(self.pieces):
            twice = next(word for word in words if words.count(word) > 1)
            raise HeadlightError(f"The word {twice!r} is listed twice; list each word once.")
        self._words = frozenset(words)
        self._spacing = tuple(map(spacing, self.pieces))
        self._longest = max(map(len, words), default=1)
        self.pad_id, self.start_id, self.end_id, self.mask_id = range(len(SPECIAL))

    @property
    def vocab_size(self) -> int:
        """How many pieces there are, special and fallback pieces included."""
        return len(self.pieces)

    def ids(self, pieces: Iterable[str]) -> list[int]:
        """The ids of pieces given by name, special ones allowed; an unknown name is refused."""
        try:
            return [self._id[piece] for piece in pieces]
        except KeyError as unknown:
            raise HeadlightError(
                f"There is no piece {unknown}; Tokenizer.pieces lists all {self.vocab_size}."
            ) from None

    def encode(self, text: str) -> list[int]:
        """The ids of a text: whatever is typed, never a special id, and decode gives it back."""
        return [index for group, _ in self._groups(text) for index in group]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the ids; decode(encode(text)) == text for every text."""
        return text_of(self.pieces[index] for index in ids)

    def fit(self, text: str, limit: int) -> tuple[list[int], str]:
        """The longest run of whole pieces and characters within `limit` ids, and the text left out.

        text == decode(ids) + rest. Only the part that can fit is read, however long the text is.
        """
        # A piece covers at most the longest word and the space before it, so what lies beyond this
        # many characters cannot fit; one word more is read so that the last one is seen whole.
        reach = (limit + 1) * (self._longest + 1) + 1
        ids: list[int] = []
        end = 0
        for group, stop in self._groups(text[:reach]):
            if len(ids) + len(group) > limit:
                break
            ids += group
            end = stop
        return ids, text[end:]

    def labels(self, ids: Sequence[int]) -> list[str]:
        """The pieces as people read them: "start", "␣", a letter, "東 1/3", "byte E6"."""
        labels: list[str] = []
        while len(labels) < len(ids):
            piece = self.pieces[ids[len(labels)]]
            if piece in _BYTE_OF:
                labels += _byte_labels([self.pieces[i] for i in ids[len(labels) : len(labels) + 4]])
            else:
                labels.append(_LABELS.get(piece) or _surface(piece))
        return labels

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The label of every id, standing alone."""
        return tuple(self.labels([index])[0] for index in range(self.vocab_size))

    def marks(self, ids: Sequence[int]) -> list[str]:
        """Per piece "special", "unknown" (something spelled out starts), "continued", or ""."""
        marks, inside = [], False
        for index in ids:
            spelled = self._spacing[index].spelled
            if self.pieces[index] in SPECIAL:
                marks.append("special")
            else:
                marks.append(("continued" if inside else "unknown") if spelled else "")
            inside = spelled
        return marks

    def save(self, path: str | Path) -> None:
        """Writes tokenizer.json: every piece in the order of its id, readable without this code."""
        content = {"format": FORMAT, "version": VERSION, "pieces": self.pieces}
        Path(path).write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Tokenizer:
        """Reads a tokenizer.json; one that this version would read differently is refused."""
        try:
            content = json.loads(Path(path).read_text("utf-8"))
        except (OSError, ValueError) as reason:
            raise HeadlightError(
                f"{path} cannot be read as JSON ({reason}); restore the file or retrain the model."
            ) from reason
        kind = content.get("format") if isinstance(content, dict) else None
        if kind != FORMAT or content.get("version") != VERSION:
            found = f"{kind!r} version {content.get('version')!r}" if kind else "something else"
            raise HeadlightError(
                f"{path} is {found}, not {FORMAT!r} version {VERSION}; "
                "restore the file or retrain the model with this version."
            )
        pieces = content.get("pieces")
        n_fallback = len(FALLBACK)
        if (
            not isinstance(pieces, list)
            or tuple(pieces[:n_fallback]) != FALLBACK
            or not all(isinstance(piece, str) for piece in pieces)
        ):
            raise HeadlightError(
                f"{path} does not start with this version's {n_fallback} fallback pieces, so its "
                "ids would mean other pieces; restore the file or retrain the model."
            )
        return cls(pieces[n_fallback:])

    def _groups(self, text: str) -> Iterator[tuple[Sequence[int], int]]:
        """Ids that belong together (a word, a character's bytes) and where their text ends."""
        gap, left = "", None
        for match in _TOKEN.finditer(text):
            token, start = match[0], match.start()
            if token[0] in WHITE:
                gap = token
                continue
            for group, stop in self._spell(token, start, gap, left):
                right = self._spacing[group[0]]
                due = " " if left is not None and _space_between(left, right) else ""
                if gap == due:
                    yield group, stop
                elif gap:
                    yield from self._white(gap, start - len(gap))
                    yield group, stop
                else:
                    yield (self._id[JOIN], *group), stop
                gap, left = "", self._spacing[group[-1]]
        yield from self._white(gap, len(text) - len(gap))

    def _white(self, gap: str, start: int) -> Iterator[tuple[Sequence[int], int]]:
        for offset, character in enumerate(gap, start=1):
            yield (self._id[character],), start + offset

    def _spell(
        self, token: str, start: int, gap: str, left: Spacing | None
    ) -> Iterator[tuple[Sequence[int], int]]:
        """One token of the text as a word, or else as its letters, marks and bytes."""
        if token in self._words:
            yield (self._id[token],), start + len(token)
        elif token == CLOSE_QUOTE:
            # A quote mark opens after white space, an opening bracket, or nothing at all.
            opens = bool(gap) or left is None or (left.before and not left.after)
            yield (self._id[OPEN_QUOTE if opens else CLOSE_QUOTE],), start + 1
        elif token[0] == "'" and len(token) > 1:
            yield (self._id["'"],), start + 1
            yield from self._spell(token[1:], start + 1, "", Spacing(False, False))
        else:
            for stop, character in enumerate(token, start=start + 1):
                yield self._character(character), stop

    def _character(self, character: str) -> Sequence[int]:
        index = self._id.get(f"##{character}", self._id.get(character))
        # A one-letter word ("a") is in the table under its own name, but the letter is found first.
        if index is not None:
            return (index,)
        try:
            return [self._id[BYTES[byte]] for byte in character.encode()]
        except UnicodeEncodeError:
            raise HeadlightError(
                f"The text holds half a character (U+{ord(character):04X}, a lone surrogate); "
                "delete it or type the whole character."
            ) from None


def _byte_labels(pieces: Sequence[str]) -> list[str]:
    """Labels of the byte pieces at the start of `pieces`: those of one character, or a stray."""
    values = [_BYTE_OF[piece] for piece in pieces if piece in _BYTE_OF]
    # The first byte says how many bytes its character has: 0xxxxxxx, 110xxxxx, 1110xxxx, 11110xxx.
    size = 1 if values[0] < 0x80 else 2 if values[0] < 0xE0 else 3 if values[0] < 0xF0 else 4
    same_run = all(piece in _BYTE_OF for piece in pieces[:size])
    try:
        character = bytes(values[:size]).decode() if same_run else ""
    except UnicodeDecodeError:
        character = ""
    if len(character) != 1:
        return [f"byte {values[0]:02X}"]
    # Marks, controls and blanks would be invisible, or would turn the line round: name them.
    hidden = unicodedata.category(character)[0] in "MCZ"
    if size == 1 and not hidden:  # it is typed as a letter or a mark; only a model writes its byte
        return [f"byte {values[0]:02X}"]
    name = f"U+{ord(character):04X}" if hidden else character
    return [name] if size == 1 else [f"{name} {part}/{size}" for part in range(1, size + 1)]
