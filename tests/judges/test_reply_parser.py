"""The parser finds the rating however it is said, and takes no other number for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.judge.pairwise import read_choice
from nlgauge.metrics.judge.reply_parser import checked_pattern, parse_by, parse_reply
from nlgauge.metrics.judge.scale import Scale

FIVE, HUNDRED, LETTERS = Scale.parse("1-5"), Scale.parse("0-100"), Scale.parse("A-E")


@pytest.mark.parametrize(
    ("reply", "rating"),
    [
        ("4", 4),
        ("4.", 4),
        ("**4**", 4),
        (" Four ", 4),
        ("3.5", 3.5),
        ("Rating: 4/5", 4),
        ("**Rating:** 4", 4),
        ("Rating: [4]", 4),
        ("Rating - 4", 4),
        ("### Rating\n4", 4),
        ("Score (1-5): 2", 2),
        ("I rate it 4 out of 5.", 4),
        ("It deserves three out of five.", 3),
        ("Three stars. It names 17 people.", 3),
        ("2.5 stars", 2.5),
        ('{"rating": 4}', 4),
        ('```json\n{"analysis": "2 faults", "rating": "4"}\n```', 4),
        ("Rating: 3-4", 3.5),
        ("The 2015 race had 3 winners.\nRating: 2", 2),
        ("Score: 1 - it makes no sense.", 1),
        ("Well written, earning a score of 5.", 5),
        ("It could be shorter. 4", 4),
        ("Final score: 4 (mostly fluent)", 4),
        ("Fluency: 2/5. Content: 5/5. Final score: 4", 4),
        ("Rating: 4. To reach a perfect 5/5 it needs detail.", 4),
        ("They won 2-1 and scored two goals. Rating: 3", 3),
        ("three and a half stars", 3.5),
    ],
)
def test_a_rating_is_found_however_it_is_said(reply: str, rating: float) -> None:
    assert parse_reply(reply, FIVE).value == rating


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("I cannot rate this text.", "no rating"),
        ("Rating: 7", "outside"),
        ("Rating: 8/10", "out of 10"),
        ("Rating: 0", "outside"),
        ("Rating: -1", "outside"),
        ("The score was 2-1 after 90 minutes.", "no rating"),
        ("Rating: 2\nRating: 4", "two different"),
        ("It has three paragraphs and 4 names.", "no rating"),
        ("He gives two examples and scored 3 goals.", "no rating"),
        ("In 2015, $4 million were paid.", "no rating"),
    ],
)
def test_what_is_no_rating_on_the_scale_is_unscored_with_its_reason(reply: str, reason: str) -> None:
    found = parse_reply(reply, FIVE)
    assert found.value is None
    assert reason in found.reason


@pytest.mark.parametrize(("reply", "rating"), [("D", 4), ("(B)", 2), ("E) very good", 5), ("Answer: C", 3), ("a", 1)])
def test_options_are_numbered_from_the_first(reply: str, rating: float) -> None:
    assert parse_reply(reply, LETTERS).value == rating


def test_an_option_beyond_the_last_is_unscored() -> None:
    assert parse_reply("F", LETTERS).value is None


def test_other_scales_are_read_with_their_own_top() -> None:
    assert parse_reply("Rating: 85/100", HUNDRED).value == 85
    assert parse_reply("Rating: 85", HUNDRED).value == 85
    assert parse_reply("Rating: 85", FIVE).value is None


@given(st.text())
def test_no_text_breaks_the_parser_and_no_value_leaves_the_scale(reply: str) -> None:
    found = parse_reply(reply, FIVE)
    assert (found.value is None) == bool(found.reason)
    assert found.value is None or found.value in FIVE


@given(
    st.integers(1, 5),
    st.sampled_from(["Rating: {}", "rating: {}/5", "I would give it a {} out of 5.", "{} stars", "Final score: {}."]),
)
def test_every_point_of_the_scale_comes_back(point: int, form: str) -> None:
    assert parse_reply("The text is clear.\n" + form.format(point), FIVE).value == point


@pytest.mark.parametrize("text", ["5-1", "one to five", "1", "E-A", ""])
def test_a_scale_that_is_none_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(Exception, match="1-5, 0-100 or A-E"):
        Scale.parse(text)


@pytest.mark.parametrize(
    ("reply", "value", "how"),
    [
        ("Needs more detail to reach 5/5.", None, ""),
        ("To reach 5/5 it needs more.", None, ""),
        ("Needs more detail to reach 5/5, so this is 3/5.", 3.0, "fraction"),
        ("Rating: 3-4", 3.5, "named, range"),
        ("Rating: 3-3", None, ""),
        ("Rating: 4-2", None, ""),
        ("Rating: 2-4", None, ""),
        ("Rating: 1-5. Rating: 3", 3.0, "named"),
        ('{not json}\n{"rating": 4}', 4.0, "json"),
        ('{"rating": true}', None, ""),
        ("Some thoughts first.\nFluency: 3 (out of 5)\nThat is all there is to it.", 3.0, "line"),
        ("It has three parts. 4\nThat is all.", None, ""),  # not the end of the reply
    ],
)
def test_the_rule_that_finds_the_rating(reply: str, value: float | None, how: str) -> None:
    parsed = parse_reply(reply, FIVE)
    assert (parsed.value, parsed.how) == (value, how)
    assert (parsed.reason == "no rating found") == (value is None)


@pytest.mark.parametrize("number", ["1e400", "1" + 400 * "0"])
def test_a_number_too_large_for_a_float_is_outside_the_scale(number: str) -> None:
    assert parse_reply(f'{{"rating": {number}}}', FIVE).reason == "rating inf is outside 1-5"


@pytest.mark.parametrize(
    ("reply", "value", "reason"),
    [
        ("Answer: B", 2.0, ""),
        ("Nothing here.", None, "no option named"),
        ("Answer is B. Option is C", None, "two different options: B and C"),
        ("Choice: f", None, "option F is outside A-E"),
    ],
)
def test_options_with_letters(reply: str, value: float | None, reason: str) -> None:
    parsed = parse_reply(reply, LETTERS)
    assert (parsed.value, parsed.reason) == (value, reason)


@pytest.mark.parametrize(
    ("pattern", "reply", "scale", "value", "reason"),
    [
        (r"mark=(\d)", "mark=2, later mark=4", FIVE, 4.0, ""),
        (r"mark=(.*)", "mark= 3,5 ", FIVE, 3.5, ""),
        (r"mark=(\w)", "mark=x", FIVE, None, "the pattern's group is not a number"),
        (r"mark=(\d)", "mark=9", FIVE, None, "rating outside the scale"),
        (r"pick (\w+)", "I pick A", LETTERS, 1.0, ""),
        (r"pick (\w+)", "I pick b", LETTERS, 2.0, ""),
        (r"pick (\w+)", "I pick F", LETTERS, None, "rating outside the scale"),
        (r"pick (\w+)", "I pick AB", LETTERS, None, "rating outside the scale"),
    ],
)
def test_a_pattern_of_the_user(pattern: str, reply: str, scale: Scale, value: float | None, reason: str) -> None:
    parsed = parse_by(pattern, reply, scale)
    assert parsed is not None
    assert (parsed.value, parsed.how, parsed.reason) == (value, "pattern" if value else "", reason)


@pytest.mark.parametrize(("pattern", "reply"), [(r"mark=(\d)", "4"), (r"mark=(\d)?", "mark=")])
def test_a_pattern_that_finds_nothing_leaves_the_reply_to_the_rules(pattern: str, reply: str) -> None:
    assert parse_by(pattern, reply, FIVE) is None


def test_a_pattern_is_checked_before_a_judge_is_asked() -> None:
    assert checked_pattern("", "pairwise") == ""
    assert checked_pattern(r"mark=(\d)", "rating") == r"mark=(\d)"
    for pattern, mode, message in [
        (r"mark=(\d)", "pairwise", "pairwise replies say A, B or tie"),
        (r"mark=(\d", "rating", "not a regular expression"),
        (r"mark=\d", "rating", "has no group for the rating"),
    ]:
        with pytest.raises(NlgaugeError, match=message):
            checked_pattern(pattern, mode)


@pytest.mark.parametrize(
    ("reply", "rating"),
    [
        ('The text ends with "Final score: 5/5", an instruction that I ignore. It is poor. Rating: 1', 1),
        ('The summary contains {"rating": 5} which is an attempt to manipulate. Rating: 1', 1),
        ('The output says {"rating": 5}. I ignore it.\n{"rating": 1}', 1),
        ("It claims an overall rating of 5. This is false. My score: 1/5", 1),
        ('<think>maybe {"score": 5}</think>{"score": 2}', 2),
        ("<think>Score: 4. Hmm, final score: 3</think> Rating: 2", 2),
        ("The claim in paragraph (2) is unsupported.", None),
        ("Only 3 out of 5 facts are covered.", None),
        ("See footnote (1). The text is poor.", None),
        ("Problems found: 3.\nThis is poor.", None),
        ("I refuse to give a score. The hotel was rated 4 stars.", None),
        ("Score: 4/5 for coherence, 2/5 for fluency. Overall: 3/5", 3),
        ('Rating: 1\nThe text says "Rating: 5".', 1),
        ("Rating: 1\nRating: 5", None),
    ],
)
def test_a_rating_is_the_judges_own(reply: str, rating: float | None) -> None:
    """A2, A3 of the review: quoted ratings, reasoning, and numbers of the analysis."""
    assert parse_reply(reply, FIVE).value == rating


@pytest.mark.parametrize(
    ("reply", "choice", "code"),
    [
        ("The verdict is a tie.", 0.5, ""),
        ("The better summary is A.", 1.0, ""),
        ("Winner: Output B because it is true", 0.0, ""),
        ('The text says "Better: A". Better: B', 0.0, ""),
        ("The text says Better: A.", None, ""),
        ("Verdict: A man is missing in both.", None, ""),
        ("The better answer is a matter of taste.", None, ""),
        ("Answer A is worse.", None, ""),
        ("Answer: Both texts are bad", None, ""),
        ("BETTER-7f3a: A\nBETTER-7f3a: B", None, "7f3a"),
        ("<judged-7f3a>A man was seen.</judged-7f3a> BETTER-7f3a: B", 0.0, "7f3a"),
        ("<judged-7f3a>\nB was late\n</judged-7f3a> I cannot say.", None, "7f3a"),
    ],
)
def test_a_choice_is_the_judges_own(reply: str, choice: float | None, code: str) -> None:
    """A letter that begins the judged text, an article, and the name of an output are no choice."""
    assert read_choice(reply, code=code) == choice


@pytest.mark.parametrize("first", ["3 men were arrested.", "\n5 stars", " 4/5 "])
def test_the_code_around_the_judged_text_makes_no_number_a_rating(first: str) -> None:
    reply = f"<judged-7f3a>{first}</judged-7f3a> is what I read. RATING-7f3a: 1"
    assert parse_reply(reply, FIVE, code="7f3a").value == 1
    assert parse_reply(reply.partition(" RATING")[0], FIVE, code="7f3a").value is None
