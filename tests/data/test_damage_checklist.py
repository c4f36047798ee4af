"""The changes that the robustness checklist added to the damage module, and what each should do to a score."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nlgauge.errors import NameUnknown
from nlgauge.text.damage import ASPECTS, EFFECTS, KINDS, Damaged, aspect_of, damage, effect


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def one_slip(old: str, new: str) -> bool:
    """Two neighbours exchanged, one letter less, or one letter twice: written again, letter by letter."""
    swapped = {old[:i] + old[i + 1] + old[i] + old[i + 2 :] for i in range(len(old) - 1)}
    shorter = {old[:i] + old[i + 1 :] for i in range(len(old))}
    doubled = {old[: i + 1] + old[i:] for i in range(len(old))}
    return new in swapped | shorter | doubled


def test_a_typo_is_one_slip_in_a_word_and_never_in_a_number() -> None:
    text = 'In 1961, "Anna" opened the bookshop (in Oslo) again; I saw it.'
    for seed in range(30):
        result = damage(text, "typo", 1.0, rng(seed))
        pairs = list(zip(text.split(), result.text.split(), strict=True))
        assert all(one_slip(old, new) for i, (old, new) in enumerate(pairs) if i in result.touched)
        assert {old for i, (old, _) in enumerate(pairs) if i not in result.touched} == {"1961,", "I"}


def test_a_typo_leaves_the_first_letter_alone_or_exchanges_it() -> None:
    found = {damage("bookshop", "typo", 1.0, rng(seed)).text for seed in range(200)}
    assert len(found) > 10
    assert all(word[0] in "bo" for word in found)


@pytest.mark.parametrize(
    ("kind", "text", "new", "touched"),
    [
        ("lower", "Anna Met BOB in oslo.", "anna met bob in oslo.", (0, 1, 2)),
        ("upper", "Anna Met BOB in oslo.", "ANNA MET BOB IN OSLO.", (0, 1, 3, 4)),
        ("lower", "all small already.", "all small already.", ()),
        ("upper", "これは 日本語", "これは 日本語", ()),
        ("punctuation", 'He said, "no". (Twice!)', "He said no Twice", (1, 2, 3)),
        ("punctuation", "it 's late , he said .", "it 's late he said", (2, 4)),
        ("punctuation", ", so it begins", "so it begins", (0,)),
        ("punctuation", "5% of #1 and/or well-known it's", "5% of #1 and/or well-known it's", ()),
        ("punctuation", "... !!! ?", "... !!! ?", ()),
    ],
)
def test_changes_of_form(kind: str, text: str, new: str, touched: tuple[int, ...]) -> None:
    assert damage(text, kind, 1.0, rng()) == Damaged(new, touched)


def test_numbers_in_digits_and_words_become_others_of_the_same_size() -> None:
    text = "Twenty men paid 1,250 for six-time use of 2 of the hundreds; once is none."
    for seed in range(20):
        result = damage(text, "number", 1.0, rng(seed))
        words = result.text.split()
        assert result.touched == (0, 3, 5, 8, 11)
        assert words[0] in {"Thirty", "Forty", "Fifty", "Sixty", "Seventy", "Eighty", "Ninety"}
        assert (len(words[3]), words[3][1], words[3] == "1,250") == (5, ",", False)
        assert words[5].endswith("-time") and words[5] != "six-time"
        assert words[8] in set("13456789")
        assert words[11] in {"thousands;", "millions;", "billions;"}


def test_a_larger_amount_changes_a_number_in_the_same_way() -> None:
    text = "1 and 22 and 333 and 4444 and five"
    few, all_ = (damage(text, "number", amount, rng(3)).text.split() for amount in (0.2, 1.0))
    changed = [i for i, word in enumerate(few) if word != text.split()[i]]
    assert len(changed) == 1
    assert few[changed[0]] == all_[changed[0]]


def test_a_fluent_wrong_sentence_comes_whole_from_the_other_text() -> None:
    text, other = "One is here. Two is here. Three is here.", "A b c. D e f. G h i."
    for seed in range(10):
        result = damage(text, "wrong", 0.34, rng(seed), [other])
        words = result.text.split()
        ours = [i for i in range(9) if i not in result.touched]
        assert len(ours) == 6
        assert [words[i] for i in ours] == [text.split()[i] for i in ours]
        assert " ".join(words[i] for i in result.touched) in {"A b c.", "D e f.", "G h i."}
    assert damage(text, "wrong", 1.0, rng(), [other]) == Damaged(other, tuple(range(9)))
    assert damage("Only one.", "wrong", 0.1, rng(), ["Quite another."]).text == "Quite another."


def test_the_same_text_from_the_pool_is_no_damage() -> None:
    assert damage("Yes. I agree.", "wrong", 1.0, rng(), ["Yes. I agree.", ""]) == Damaged("Yes. I agree.")
    assert damage("Yes. I agree.", "copy", 1.0, rng(), ["Yes. I agree."]) == Damaged("Yes. I agree.")


def test_a_copy_takes_the_beginning_of_the_source_until_it_is_the_source() -> None:
    text, source = "Mine a. Mine b.", "S one. S two. S three. S four."
    assert damage(text, "copy", 0.5, rng(), [source]) == Damaged("Mine a. S one. S two.", (2, 3, 4, 5))
    assert damage(text, "copy", 1.0, rng(), [source]).text == source
    assert damage(text, "copy", 1.0, rng()) == Damaged(text)


def test_a_synonym_keeps_punctuation_names_and_articles() -> None:
    lines = ["film movie picture", "old ancient", "smith blacksmith"]
    result = damage('An old film, "film" by Smith.', "synonym", 1.0, rng(1), lines)
    words = result.text.split()
    assert result.touched == (1, 2, 3)
    assert words[1] == "ancient"  # 'an ancient', 'an old'
    assert words[2] in {"movie,", "picture,"}
    assert words[3] in {'"movie"', '"picture"'}
    assert (
        damage("a old thing", "synonym", 1.0, rng(), ["old new"]).text == "a old thing"
    )  # 'a new' would be another article


def test_every_kind_has_an_expectation_for_every_aspect() -> None:
    assert set(EFFECTS) == set(KINDS)
    assert all(set(row) == set(ASPECTS) for row in EFFECTS.values())
    # Whatever is no damage overall is damage to no aspect, and every damage costs at least one aspect.
    for kind, row in EFFECTS.items():
        costs = [aspect for aspect in ASPECTS if row[aspect] == "fall"]
        assert bool(costs) == (row["overall"] == "fall"), kind
        assert kind not in ("lower", "upper", "punctuation", "synonym") or not costs


def test_expectations_by_the_names_that_data_sets_use() -> None:
    assert effect("negate", "Faithfulness") == effect("negate", "UsesKnowledge") == "fall"
    assert effect("negate", "Natural") == "stay"
    assert effect("copy", "consistency") == "not fall"
    assert aspect_of("Surprise") is None
    with pytest.raises(NameUnknown, match="no expectations for aspect 'surprise'"):
        effect("drop", "surprise")
    with pytest.raises(NameUnknown, match=r"no perturbation 'burn'\. Expected one of: drop, truncate"):
        effect("burn")


def test_the_table_in_the_docs_is_the_data() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "robustness.md").read_text(encoding="utf-8")
    signs = {"fall": "↓", "stay": "=", "not fall": "+", "open": "?"}
    told = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 2 + len(ASPECTS) and set(cells[2:]) <= set(signs.values()):
            told |= dict.fromkeys(cells[0].split(", "), cells[2:])
    assert told == {kind: [signs[row[a]] for a in ASPECTS] for kind, row in EFFECTS.items()}
