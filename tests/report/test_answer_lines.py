"""The answer on a terminal: at most 15 lines of 80 columns, with the words and badges of the answer and no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.report.answer import ReportAnswer
from nlgauge.report.answer_lines import COLUMN, SHORT, answer_lines

LONG = "bertscore(model='microsoft/deberta-xlarge-mnli')"


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> ReportAnswer:
    return ng.report(ng.example(), out=tmp_path_factory.mktemp("answer") / "a.html", quick=True).answer


def many(answer: ReportAnswer, aspects: int = 1, metrics: int = 1, name: str = "") -> ReportAnswer:
    """The same answer, as of more aspects and metrics."""
    one = answer.aspects[0]
    every = [replace(m, metric=f"{name or m.metric}{n or ''}") for n in range(metrics) for m in one.metrics]
    return replace(answer, aspects=[replace(one, about=f"{one.about}{n or ''}", metrics=every) for n in range(aspects)])


@pytest.mark.parametrize(
    ("aspects", "metrics", "name"), [(1, 1, ""), (1, 9, ""), (8, 9, ""), (30, 2, ""), (1, 2, LONG), (4, 1, LONG)]
)
def test_the_answer_has_at_most_14_lines_of_80_columns_and_whole_names(
    answer: ReportAnswer, aspects: int, metrics: int, name: str
) -> None:
    large = many(answer, aspects, metrics, name)
    lines = answer_lines(large, 80)
    assert len(lines) <= 14 and max(map(len, lines)) <= 80
    first = large.aspects[0].metrics[0].metric
    assert any(first in line for line in lines[2:])


def test_the_words_and_the_marks_are_those_of_the_answer(answer: ReportAnswer) -> None:
    lines = answer_lines(answer, 120)
    one = answer.aspects[0]
    assert one.sentences[""] in " ".join(lines) and answer.evaluated in " ".join(lines)
    head = next(line for line in lines if line.startswith("metric "))
    assert "pairwise accuracy, 95% CI" in head
    for m in one.metrics:
        line = next(line for line in lines if line.startswith(m.metric + " "))
        assert f" {m.value:.2f} [{m.low:.2f}, {m.high:.2f}] " in line
        assert badges_below(head, line, one.uses) == [m.marks[use].badge for use in one.uses]


def badges_below(head: str, line: str, uses: list[str]) -> list[str]:
    """What stands in a line below the head of each use."""
    starts = [head.rindex(f"  {SHORT[use]}") + 2 for use in uses]
    return [line[start : start + COLUMN].rstrip() for start in starts]


def test_an_interval_is_drawn_where_it_is(answer: ReportAnswer) -> None:
    lines = answer_lines(answer, 120)
    half = next(line for line in lines if line.startswith("metric ")).index(" 0.5 ") + 1
    row = {m.metric: next(line for line in lines if line.startswith(m.metric + " ")) for m in answer.aspects[0].metrics}
    for m in answer.aspects[0].metrics:
        assert m.low is not None and m.high is not None
        start, point, end = (row[m.metric].index(sign) for sign in "├●┤")
        assert start < point < end
        assert (start < half) == (m.low < 0.5) and (end < half) == (m.high < 0.5)
    assert row["unigram_f1"].index("●") > row["length_ratio"].index("●") > row["random"].index("●")


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_what_has_no_room_is_left_out_whole(answer: ReportAnswer, width: int) -> None:
    lines = answer_lines(answer, width)
    assert max(map(len, lines)) <= width
    one, head = answer.aspects[0], next(line for line in lines if line.startswith("metric "))
    heads = head.partition("95% CI")[2]
    shown = [use for use in one.uses if f"  {SHORT[use]}" in heads]
    assert shown == one.uses[: len(shown)] and "rank systems" in shown
    left = len(one.metrics) - (len(lines) - lines.index(head) - 1)
    listed = one.metrics
    if lines[-1].endswith("more metrics on the page"):
        listed = one.metrics[: -int(lines[-1].split()[0])]
        assert len(lines) == 14 and left == int(lines[-1].split()[0]) - 1  # no line is wasted
    for m in listed:
        line = next(line for line in lines if line.startswith(m.metric + " "))
        assert badges_below(head, line, shown) == [m.marks[use].badge for use in shown]


@pytest.mark.parametrize("aspects", [1, 2])
def test_badges_stand_below_their_heads_when_names_are_shorter_than_the_word_metric(
    answer: ReportAnswer, aspects: int
) -> None:
    one = answer.aspects[0]
    short = [replace(m, metric=f"m{n}") for n, m in enumerate(one.metrics)]
    lines = answer_lines(
        replace(answer, aspects=[replace(one, about="ab"[n], metrics=short) for n in range(aspects)]), 120
    )
    head = next(line for line in lines if line.startswith(("metric ", "best metric ")))
    rows = [line for line in lines if "●" in line]
    assert len(rows) == (len(short) if aspects == 1 else aspects)
    for row, m in zip(rows, short if aspects == 1 else short[:1] * aspects, strict=True):
        assert row[head.index("rank systems") - 2 :].startswith("  ")
        assert badges_below(head, row, one.uses) == [m.marks[use].badge for use in one.uses]


def test_too_few_data_have_a_warning_and_no_picture(tmp_path: Path) -> None:
    rows = [
        {"system": s, "input": i, "quality": q, "bleu": q / 5}
        for s, i, q in zip("aabb", "1212", (1, 2, 3, 4), strict=True)
    ]
    lines = ng.report(ng.load(rows, human=["quality"], metrics=["bleu"]), out=tmp_path / "a.html", quick=True).lines
    assert " ".join(lines).lower().count("too few") == 1  # and not once more for the only aspect
    assert not any(sign in line for line in lines for sign in "├●┤") and "1.00" not in " ".join(lines)
