"""The parser finds the rating however it is said, and takes no other number for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics.judge.reply_parser import parse
from nlgauge.metrics.judge.scale import Scale

FIVE, HUNDRED, LETTERS = Scale.parse("1-5"), Scale.parse("0-100"), Scale.parse("A-E")


@pytest.mark.parametrize(
    ("reply", "rating"),
    [
        ("4", 4), ("4.", 4), ("**4**", 4), (" Four ", 4), ("3.5", 3.5), ("Rating: 4/5", 4), ("**Rating:** 4", 4),
        ("Rating: [4]", 4), ("Rating - 4", 4), ("### Rating\n4", 4), ("Score (1-5): 2", 2), ("I rate it 4 out of "
            "5.", 4),
        ("It deserves three out of five.", 3), ("Three stars. It names 17 people.", 3), ("2.5 stars", 2.5),
        ('{"rating": 4}', 4), ('```json\n{"analysis": "2 faults", "rating": "4"}\n```', 4), ("Rating: 3-4", 3.5),
        ("The 2015 race had 3 winners.\nRating: 2", 2), ("Score: 1 - it makes no sense.", 1),
        ("Well written, earning a score of 5.", 5), ("It could be shorter. 4", 4), ("Final score: 4 (mostly "
            "fluent)", 4),
        ("Fluency: 2/5. Content: 5/5. Final score: 4", 4), ("Rating: 4. To reach a perfect 5/5 it needs detail.", 4),
        ("They won 2-1 and scored two goals. Rating: 3", 3), ("three and a half stars", 3.5),
    ],
)  # fmt: skip
def test_a_rating_is_found_however_it_is_said(reply: str, rating: float) -> None:
    assert parse(reply, FIVE).value == rating


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"), ("I cannot rate this text.", "no rating"), ("Rating: 7", "outside"), ("Rating: 8/10",
            "out of 10"),
        ("Rating: 0", "outside"), ("Rating: -1", "outside"), ("The score was 2-1 after 90 minutes.", "no rating"),
        ("Rating: 2\nRating: 4", "two different"), ("It has three paragraphs and 4 names.", "no rating"),
        ("He gives two examples and scored 3 goals.", "no rating"), ("In 2015, $4 million were paid.", "no rating"),
    ],
)  # fmt: skip
def test_what_is_no_rating_on_the_scale_is_unscored_with_its_reason(reply: str, reason: str) -> None:
    found = parse(reply, FIVE)
    assert found.value is None
    assert reason in found.reason


@pytest.mark.parametrize(("reply", "rating"), [("D", 4), ("(B)", 2), ("E) very good", 5), ("Answer: C", 3), ("a", 1)])
def test_options_are_numbered_from_the_first(reply: str, rating: float) -> None:
    assert parse(reply, LETTERS).value == rating


def test_an_option_beyond_the_last_is_unscored() -> None:
    assert parse("F", LETTERS).value is None


def test_other_scales_are_read_with_their_own_top() -> None:
    assert parse("Rating: 85/100", HUNDRED).value == 85
    assert parse("Rating: 85", HUNDRED).value == 85
    assert parse("Rating: 85", FIVE).value is None


@given(st.text())
def test_no_text_breaks_the_parser_and_no_value_leaves_the_scale(reply: str) -> None:
    found = parse(reply, FIVE)
    assert (found.value is None) == bool(found.reason)
    assert found.value is None or found.value in FIVE


@given(
    st.integers(1, 5),
    st.sampled_from(["Rating: {}", "rating: {}/5", "I would give it a {} out of 5.", "{} stars", "Final score: {}."]),
)
def test_every_point_of_the_scale_comes_back(point: int, form: str) -> None:
    assert parse("The text is clear.\n" + form.format(point), FIVE).value == point


@pytest.mark.parametrize("text", ["5-1", "one to five", "1", "E-A", ""])
def test_a_scale_that_is_none_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(Exception, match="1-5, 0-100 or A-E"):
        Scale.parse(text)
