"""The tokenizer: any text, nothing lost, known words whole."""

from __future__ import annotations

import json
import random
import time

import pytest

from model.errors import HeadlightError
from model.tokenizer import BYTES, FALLBACK, LETTERS, SPECIAL, Tokenizer, text_of

WORDS = ["a", "A", "I", "the", "The", "cat", "cats", "sat", "on", "mat", "Mary", "said", "'s"]
NASTY = [
    "",
    " ",
    "a",
    "The cat sat on the mat.",
    "The cat  sat\ton\n\nthe mat .",
    " \n\t leading and trailing \t\n ",
    'Mary said: "The cat sat." "The mat", said Mary ( who sat ).',
    '"a" "" """ " \' \'\' "( [" {"',
    "Mary's cats' mat, the cat's; 'Mary' '' 's ''s",
    "<s> </s> <pad> <start> <mask> [MASK] <join> <0xE6> ##a &amp; $x$ `a` \\frac{1}{2}",
    "東京 naïve 💩 Ελλάδα שלום مرحبا é e\u0301 \u017f Łódź Zorvik",
    "\x00\x07\x7f\r\n\u00a0\u200b\u202e\u3000\ufeff\ufffd\uffff\U0010ffff",
    "3.14 h2o 1,000 50% -1 a+b=c a<b<c 2026-11-30 user@example.org http://a.b/c?d=e#f",
    "mat.The cat,the mat!?...",
    "THE CAT thecat the_cat the-cat",
]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(WORDS)


def pieces(tokenizer: Tokenizer, text: str) -> list[str]:
    return [tokenizer.pieces[index] for index in tokenizer.encode(text)]


def random_texts(n: int) -> list[str]:
    rng = random.Random(0)
    likely = [*" \n\t\"'()<>[].,;:!?-#&1aAé\u017f東💩\r\u00a0\u0301\x00", *WORDS, "Zo", "'t"]
    texts = []
    for _ in range(n):
        likely_share = rng.choice((0.0, 0.9, 1.0))
        parts = (
            rng.choice(likely)
            if rng.random() < likely_share
            else chr(rng.choice((rng.randrange(0xD800), rng.randrange(0xE000, 0x110000))))
            for _ in range(rng.randrange(14))
        )
        texts.append("".join(parts))
    return texts


@pytest.mark.parametrize("text", NASTY)
def test_decoding_gives_back_every_character(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_decoding_gives_back_random_texts(tokenizer):
    for text in random_texts(10_000):
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_a_space_before_the_full_stop_leaves_the_words_alone(tokenizer):
    assert pieces(tokenizer, "the mat.") == ["the", "mat", "."]
    assert pieces(tokenizer, "the mat .") == ["the", "mat", " ", "."]
    assert pieces(tokenizer, "the.mat") == ["the", ".", "<join>", "mat"]


def test_quotation_marks_open_and_close_without_being_counted(tokenizer):
    assert pieces(tokenizer, 'Mary said: "the cat."') == (
        ["Mary", "said", ":", ' "', "the", "cat", ".", '"']
    )
    # One stray mark does not turn the next ones round.
    assert pieces(tokenizer, '1" the "cat"')[-3:] == [' "', "cat", '"']


def test_unknown_words_are_letters_and_the_rest_is_bytes(tokenizer):
    assert pieces(tokenizer, "Zoé sat") == ["##Z", "##o", "##é", "sat"]
    assert pieces(tokenizer, "東") == ["<0xE6>", "<0x9D>", "<0xB1>"]
    assert pieces(tokenizer, "a Za") == ["a", "##Z", "##a"]  # the word "a" is no letter


def test_nothing_typed_is_ever_a_special_piece(tokenizer):
    special = {tokenizer.start_id, tokenizer.end_id, tokenizer.mask_id, tokenizer.pad_id}
    assert len(special) == len(SPECIAL)
    for text in (*NASTY, *SPECIAL, *BYTES, *LETTERS):
        assert not special & set(tokenizer.encode(text))


def test_more_pieces_only_add_to_the_text(tokenizer):
    for text in (*NASTY, *random_texts(2_000)):
        ids = tokenizer.encode(text)
        for end in range(len(ids)):
            # A character whose bytes are cut shows as U+FFFD until the rest is there.
            begun = tokenizer.decode(ids[:end])
            assert text.startswith(begun) or text.startswith(begun.rstrip("\ufffd"))


def test_every_piece_has_one_id_and_special_pieces_are_silent(tokenizer):
    assert len(set(tokenizer.pieces)) == tokenizer.vocab_size == len(FALLBACK) + len(WORDS)
    assert tokenizer.ids(tokenizer.pieces) == list(range(tokenizer.vocab_size))
    assert text_of(["<start>", "the", "<mask>", "mat", "<end>"]) == "the mat"


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 5, 8, 13, 128])
def test_fit_keeps_what_fits_and_hands_back_the_rest(tokenizer, limit):
    for text in (*NASTY, *random_texts(1_000)):
        ids, rest = tokenizer.fit(text, limit)
        assert len(ids) <= limit
        assert tokenizer.decode(ids) + rest == text
        assert ids == tokenizer.encode(text)[: len(ids)]
        if len(tokenizer.encode(text)) <= limit:
            assert rest == ""


def test_fit_never_splits_a_character(tokenizer):
    assert tokenizer.fit("a 東東", 5) == (tokenizer.encode("a 東"), "東")
    assert tokenizer.fit("a 東東", 3) == (tokenizer.encode("a"), " 東東")


@pytest.mark.parametrize("part", ["cat ", "x", " ", "東", "\n\n", "cat"])
def test_fit_reads_no_more_of_a_long_text_than_can_fit(tokenizer, part):
    long, longer = part * 1_000, part * 100_000
    ids, rest = tokenizer.fit(longer, 128)
    assert (ids, len(longer) - len(rest)) == (
        tokenizer.fit(long, 128)[0],
        len(long) - len(tokenizer.fit(long, 128)[1]),
    )
    begin = time.perf_counter()
    tokenizer.fit(longer, 128)
    assert time.perf_counter() - begin < 0.1  # reading all of it takes much longer


def test_labels_are_what_people_read(tokenizer):
    def labels(text: str) -> list[str]:
        return tokenizer.labels(tokenizer.encode(text))

    assert labels("the  mat\n\t") == ["the", "␣", "␣", "mat", "⏎", "⇥"]
    assert labels('"Zo"') == ['"', "Z", "o", '"']
    assert labels("東é") == ["東 1/3", "東 2/3", "東 3/3", "é"]
    assert labels("💩") == ["💩 1/4", "💩 2/4", "💩 3/4", "💩 4/4"]
    assert tokenizer.labels(tokenizer.ids(["<0x4D>"])) == ["byte 4D"]  # typed, it is a letter
    assert labels("\u202e\x07") == ["U+202E 1/3", "U+202E 2/3", "U+202E 3/3", "U+0007"]
    assert tokenizer.labels([tokenizer.start_id, tokenizer.mask_id]) == ["start", "mask"]
    stray = tokenizer.ids(["<0xE6>", "<0x9D>", "the", "<0xFF>"])
    assert tokenizer.labels(stray) == ["byte E6", "byte 9D", "the", "byte FF"]


def test_marks_tell_where_something_unknown_is_spelled_out(tokenizer):
    ids = [tokenizer.start_id, *tokenizer.encode("the Zo sat, 東 a.")]
    assert tokenizer.marks(ids) == (
        ["special", "", "unknown", "continued", "", "", "unknown", "continued", "continued", "", ""]
    )
    # Two unknown words in a row are two: the white space between them is a piece.
    assert tokenizer.marks(tokenizer.encode("Zo Vi")) == (
        ["unknown", "continued", "", "unknown", "continued"]
    )


def test_labels_and_marks_stand_for_every_piece(tokenizer):
    for text in (*NASTY, *random_texts(2_000)):
        ids = tokenizer.encode(text)
        assert len(ids) == len(tokenizer.labels(ids)) == len(tokenizer.marks(ids))
        assert all(label.strip() for label in tokenizer.labels(ids))


def test_half_a_character_is_refused_with_a_remedy(tokenizer):
    with pytest.raises(HeadlightError, match=r"U\+D83D.*delete it"):
        tokenizer.encode("the \ud83d")


def test_a_saved_tokenizer_reads_the_same(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    assert loaded.pieces == tokenizer.pieces
    assert json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))["version"] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 99}, "version 99"),
        ({"format": "other"}, "'other'"),
        ({"pieces": ["the"]}, "fallback pieces"),
        ({"pieces": [*FALLBACK, "the", "the"]}, "listed twice"),
        ({"pieces": [*FALLBACK, "two words"]}, "Latin letters only"),
        ({"pieces": [*FALLBACK, 3]}, "fallback pieces|Latin letters only"),
        ({"pieces": None}, "fallback pieces"),
    ],
)
def test_a_file_that_would_mean_other_ids_is_refused(tokenizer, tmp_path, change, message):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | change), "utf-8")
    with pytest.raises(HeadlightError, match=message):
        Tokenizer.load(path)


@pytest.mark.parametrize("content", ["", "[]", "{", "3"])
def test_a_file_that_is_no_tokenizer_is_refused(tmp_path, content):
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(HeadlightError, match=r"restore the file or retrain"):
        Tokenizer.load(tmp_path / "tokenizer.json")
    with pytest.raises(HeadlightError, match=r"restore the file"):
        Tokenizer.load(tmp_path / "missing.json")


def test_an_unknown_piece_is_refused(tokenizer):
    with pytest.raises(HeadlightError, match="There is no piece 'zebra'"):
        tokenizer.ids(["zebra"])
