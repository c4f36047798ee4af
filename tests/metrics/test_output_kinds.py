"""Each kind of output is told by its rule, and only by it."""

from __future__ import annotations

import pytest

from nlgauge.text.output_kinds import KINDS, OriginTexts, OutputTexts, output_kinds, support

SOURCE = "The old mill by the river burned down on Tuesday night and 12 people from Ashford fled their homes."
REFERENCE = "A mill near Ashford burned down; twelve people fled."
OTHERS = [
    "Twelve people fled as a mill burned down.",
    "The mill burned on Tuesday and people fled.",
    "A fire in the old mill made people flee.",
    "The mill by the river burned down at night.",
]


def kinds(output: str, source: str = SOURCE, reference: str = REFERENCE) -> list[str]:
    origin = OriginTexts((source,) if source else (), (reference,) if reference else ())
    return output_kinds([OutputTexts("1", text, origin) for text in (output, *OTHERS)])[0]


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("", "empty"),
        ("People from Ashford fled their homes when the mill by the river burned on one Tuesday night.", "long"),
        ("A mill burned.", "short"),
        (REFERENCE.upper(), "same as a reference"),
        ("By the river burned down on Tuesday night and 12 people", "copied"),
        ("The mill burned the mill burned the mill", "repeats itself"),
        ("The mill burned and 13 people fled at night.", "number from nowhere"),
        ("The mill in Canterbury burned and many people fled.", "name from nowhere"),
    ],
)
def test_the_rule_finds_its_kind(output: str, kind: str) -> None:
    assert kinds(output) == [kind]


def test_an_ordinary_output_is_of_no_kind() -> None:
    assert kinds("The mill burned down; 12 people of Ashford fled.") == []


def test_a_number_written_as_a_word_or_with_marks_is_known() -> None:
    assert kinds("It cost 1200 pounds and 3 men lost all.", "It cost 1,200 pounds, three men", "") == []


def test_where_many_words_have_capitals_no_name_is_told() -> None:
    texts = ["Die alte Mühle brannte", "und Leute liefen aus dem Haus", "an jenem Abend im Mai"]
    assert output_kinds([OutputTexts("1", t, OriginTexts(("The mill burned",))) for t in texts]) == [[], [], []]


def test_without_anything_it_came_from_nothing_comes_from_nowhere() -> None:
    assert kinds("The mill in Canterbury burned and 99 people fled.", "", "") == []


def test_every_kind_has_its_rule_in_words_and_support_has_a_letter_a_word() -> None:
    assert all(KINDS.values())
    assert support("It’s a Fire, Ashford!", OriginTexts((SOURCE,), (REFERENCE,))) == "..ns"
