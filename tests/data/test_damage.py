from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.data.example import example_texts
from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.text.damage import DAMAGES, KINDS, Damaged, damage

HARD = [
    "",
    " \n\t",
    "word",
    "not",
    "Never.",
    "🙂",
    "🙂 👩‍👩‍👧 🙂",
    "これは日本語の文章です。短い。",
    "هذا نص عربي. قصير؟",
]
HARD += ["a a a a", "... !!! ?", "1", "0", "x" * 5000, "Not. Never. Not.", "\u0301 \u200d", "New New York"]

SENTENCES = "The cat is not here. It opened in 1961, Anna said; can't stop. Was Bob, never ill?"

english = st.lists(st.sampled_from(SENTENCES.split())).map(" ".join)
texts = st.text(max_size=80) | st.sampled_from(HARD) | english
pools = st.lists(st.text(max_size=8) | st.sampled_from(["New York", "Oslo,", "word", " "]), max_size=4)


# What the kinds take that can do nothing by themselves.
POOLS = {
    "wrong": ["A train left the station. It was late and full. Nobody knew why."],
    "copy": ["The source says this first. Then it says that. It ends here."],
    "synonym": ["the da di", "a un", "and und", "of von", "in within"],
}


def rng(seed=0):
    return np.random.default_rng(seed)


def changed(old: str, new: str) -> int:
    """Words of the longer text that the other does not have at the same place: a rough size of a damage."""
    a, b = old.split(), new.split()
    return sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b))


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=120)
@given(text=texts, amount=st.floats(0, 1), seed=st.integers(0, 2**32), pool=pools)
def test_any_text_is_damaged_repeatably_with_valid_touched_words(kind, text, amount, seed, pool):
    first = damage(text, kind, amount, rng(seed), pool)
    assert first == damage(text, kind, amount, rng(seed), pool)
    words = first.text.split()
    assert list(first.touched) == sorted(set(first.touched))
    assert all(0 <= i < len(words) for i in first.touched)
    assert (first.text == text) == (not first.touched)
    assert bool(words) == bool(text.split())


@pytest.mark.parametrize("kind", KINDS)
@given(text=texts)
def test_amount_zero_returns_the_very_text(kind, text):
    assert damage(text, kind, 0, rng()) == Damaged(text)


@pytest.mark.parametrize("kind", KINDS)
def test_more_amount_does_at_least_as_much_on_average(kind):
    outputs = [text["output"] for text in example_texts()]
    means = [
        np.mean(
            [
                changed(text, damage(text, kind, amount, rng(i), POOLS.get(kind, ())).text)
                for i, text in enumerate(outputs * 4)
            ]
        )
        for amount in (0, 0.1, 0.3, 0.6, 1)
    ]
    assert means[0] == 0 < means[1]
    # what a swap or repetition shifts depends on where it falls, hence a little slack
    assert all(more >= 0.97 * less for less, more in pairwise(means)), means


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "negate"])
def test_any_amount_above_zero_damages_an_ordinary_text(kind):
    for i, text in enumerate(example_texts()):
        if kind in ("entity", "number") and not any(c.isdigit() for c in text["output"]):
            continue
        assert damage(text["output"], kind, 1e-9, rng(i), POOLS.get(kind, ())).touched


@pytest.mark.parametrize(
    "kind", ["swap", "shuffle", "garble", "typo", "replace", "entity", "number", "lower", "upper", "synonym"]
)
def test_touched_are_exactly_the_words_that_differ_where_the_number_of_words_stays(kind):
    for i, text in enumerate(example_texts()):
        old = text["output"].split()
        result = damage(text["output"], kind, 0.4, rng(i), POOLS.get(kind, ["Oslo", "seven"]))
        new = result.text.split()
        assert result.touched == tuple(j for j, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)


@pytest.mark.parametrize("kind", ["swap", "shuffle"])
def test_changes_of_order_keep_every_word(kind):
    text = example_texts()[0]["output"]
    assert sorted(damage(text, kind, 1, rng()).text.split()) == sorted(text.split())


def test_a_shuffle_of_distinct_words_leaves_none_in_its_place():
    result = damage("a b c d e f g", "shuffle", 1, rng(3))
    assert result.touched == tuple(range(7))


def test_words_taken_out_touch_the_word_before_the_gap():
    for seed in range(20):
        result = damage("a b c d e f", "drop", 0.3, rng(seed))
        kept = ["abcdef".index(word) for word in result.text.split()]
        gaps = {i for i, place in enumerate(kept) if place + 1 not in kept and place < 5}
        assert set(result.touched) == gaps | ({0} if kept[0] > 0 else set())
    assert damage("a b c d", "truncate", 0.5, rng()) == Damaged("a b", (1,))


def test_repetitions_are_touched_and_without_them_the_text_is_the_old_one():
    text = "One two three. Four five! Six seven eight nine?"
    for kind in ("repeat", "repeat-sentence"):
        for seed in range(10):
            result = damage(text, kind, 0.4, rng(seed))
            kept = [w for i, w in enumerate(result.text.split()) if i not in result.touched]
            assert kept == text.split()
    assert damage(text, "repeat-sentence", 1, rng()).text == (
        "One two three. One two three. Four five! Four five! Six seven eight nine? Six seven eight nine?"
    )


@pytest.mark.parametrize(
    ("text", "opposite", "touched"),
    [
        ("The bridge is safe.", "The bridge is not safe.", (3,)),
        ("The bridge is not safe.", "The bridge is safe.", (2,)),
        ("The bridge opened early.", "The bridge never opened early.", (2,)),
        ("They never closed it.", "They closed it.", (0,)),
        ("They can't swim.", "They can swim.", (1,)),
        ("It won’t, he thinks.", "It will, he thinks.", (1,)),
        ("We cannot swim, and it isn't.", None, None),
        ("No, it is not.", "No, it is.", (2,)),
        ("A hundred reed beds.", "A hundred reed beds.", ()),
        ("The closed road", "The closed road", ()),
        ("これは日本語です。", "これは日本語です。", ()),
    ],
)
def test_a_sentence_becomes_its_opposite(text, opposite, touched):
    result = damage(text, "negate", 1, rng())
    if opposite is None:  # two denials: one of them goes
        assert result.text in {"We can swim, and it isn't.", "We cannot swim, and it is."}
    else:
        assert result == Damaged(opposite, touched)


def test_numbers_keep_their_length_and_names_come_from_the_pool_with_their_punctuation():
    text = "In March, 1,250 people met Anna (from Skelby) at 07:30."
    result = damage(text, "entity", 1, rng(), ["Oslo,", "lower", "Bergen"])
    words = result.text.split()
    assert result.touched == (1, 2, 5, 7, 9)
    assert words[1] in {"Oslo,", "Bergen,"}
    assert words[7] in {"Oslo)", "Bergen)"}
    for old, new in (("1,250", words[2]), ("07:30.", words[9])):
        shape = "".join("9" if c.isdigit() else c for c in new)
        assert shape == "".join("9" if c.isdigit() else c for c in old)
        assert new != old


def test_entries_of_several_words_are_touched_whole():
    result = damage("one, two", "replace", 1, rng(), ["new york"])
    assert result == Damaged("new york, new york", (0, 1, 2, 3))


def test_garbled_text_stays_in_its_script():
    text = "これは日本語の文章です。"
    assert set(damage(text, "garble", 0.5, rng()).text) <= set(text)


def test_the_same_seed_puts_small_damage_inside_larger_damage():
    text = example_texts()[0]["output"]
    for kind in ("garble", "typo", "replace", "upper"):
        small, large = (damage(text, kind, a, rng(5)) for a in (0.1, 0.4))
        assert set(small.touched) < set(large.touched)
        if kind != "garble":  # there a larger amount may spoil more letters of the same word
            assert all(small.text.split()[i] == large.text.split()[i] for i in small.touched)


def test_kinds_are_the_registry():
    assert list(DAMAGES) == KINDS
    assert len(KINDS) == len(set(KINDS)) == 18


def test_unknown_kind_and_amount_out_of_range_say_what_is_possible():
    with pytest.raises(NameUnknown, match=r"no perturbation 'burn'.*shuffle"):
        damage("a", "burn", 0.5, rng())
    for amount in (-0.1, 1.1, float("nan")):
        with pytest.raises(NlgaugeError, match="between 0 and 1"):
            damage("a", "drop", amount, rng())
