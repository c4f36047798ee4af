"""The answer on a terminal: what was evaluated, the verdict in words, a forest of intervals and the marks of each use.

At most 15 lines at 80 columns, whatever the number of metrics and aspects; the page has the rest. Nothing is computed
here: every word and number stands in the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nlgauge.options import option
from nlgauge.report.answer_words import STATISTICS, ci
from nlgauge.terminal import wrapped

if TYPE_CHECKING:
    from nlgauge.report.answer import AspectAnswer, MetricAnswer, ReportAnswer

MAX_LINES = 14  # lines; the path of the report is one more
SHORT = {
    "rank systems": "rank systems", "pairwise": "pairwise", "flag": "flag", "replace an annotator": "annotator",
    "catch failures": "failures", "pass good answers": "passes", "tell good from bad": "tell apart",
}  # fmt: skip
Line = tuple[str, "AspectAnswer", "MetricAnswer"]
COLUMN, LEAST, WIDEST = 12, 14, 40  # characters of a badge; fewest and most of an interval


def answer_lines(answer: ReportAnswer, width: int = 80, most: int = MAX_LINES) -> list[str]:
    """The lines that `nlgauge run` prints.

    >>> import nlgauge as ng, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = ng.report(ng.example(), out=pathlib.Path(folder) / "page.html", quick=True)
    >>> len(answer_lines(made.answer)) <= 14, max(map(len, answer_lines(made.answer))) <= 80
    (True, True)
    """
    texts = (*answer.failures, answer.evaluated, *answer.warnings)
    lines = [line for text in texts for line in wrapped(text, width)]
    aspects = [a for a in answer.aspects if a.metrics]
    if all(a.warning for a in aspects):  # nothing to draw, and the warnings have said why
        return lines
    several = len(aspects) > 1
    rows = [(a.about, a, a.metrics[0]) for a in aspects] if several else _rows(aspects[0])
    said = [line for a in aspects for line in wrapped(a.sentences[""], width)]
    room = most - len(lines) - 1  # the head of the forest
    tall = 2 if _two_lines(rows, width, several) else 1
    if several and len(said) + tall * len(rows) > room:
        said = [f"The page has a conclusion for each aspect (or use {option('aspect')}); in short:"]
    fitting = max(1, (room - len(said) - 1) // tall)
    shown = rows[:fitting] if len(said) + tall * len(rows) > room else rows
    left = len(rows) - len(shown)
    more = [f"{left} more {'aspects' if several else 'metrics'} on the page"] if left else []
    return [*lines, *said, *_forest(shown, width, several), *more]


def _rows(aspect: AspectAnswer) -> list[Line]:
    return [(m.metric, aspect, m) for m in aspect.metrics]


def _names(rows: Sequence[Line], several: bool) -> list[str]:
    return [f"{name}: {m.metric}" if several else name for name, _, m in rows]


def _statistic(rows: Sequence[Line]) -> str:
    measure = rows[0][1].measure
    return f"{STATISTICS.get(measure, (measure,))[0]}, 95% CI"


def _two_lines(rows: Sequence[Line], width: int, several: bool) -> bool:
    """Whether a name is so long that its value has to stand below it."""
    return max(map(len, _names(rows, several))) + 2 + len(_statistic(rows)) > width


def _forest(rows: Sequence[Line], width: int, several: bool) -> Iterator[str]:
    """A line each: name, value with its interval, the interval drawn where there is room, badges of this metric."""
    names, below = _names(rows, several), _two_lines(rows, width, several)
    uses = list(dict.fromkeys(use for _, aspect, _ in rows for use in aspect.uses))
    head = "best metric" if several else "metric"
    figures = [ci(m.value, m.low, m.high) for _, _, m in rows]
    statistic = _statistic(rows)
    side = len(head) if below else max(map(len, [head, *names]))
    middle = max(map(len, [statistic, *figures]))
    second = any(m.acc_eq is not None for _, _, m in rows)
    space = width - side - middle - 4 - (8 if second else 0)
    uses = uses[: max(0, space // (COLUMN + 2))]
    space = min(WIDEST, space - (COLUMN + 2) * len(uses) - 2)
    scale = _Scale([(a, m) for _, a, m in rows], space)
    drawn = space >= LEAST and any(m.low is not None for _, _, m in rows)
    ruler = [f"{scale.ruler():{space}}"] if drawn else []
    heads = [f"{SHORT.get(use, use):{COLUMN}}" for use in uses]
    heads = ["acc_eq", *heads] if second else heads
    yield "  ".join([f"{head:{side}}", f"{statistic:{middle}}", *ruler, *heads]).rstrip()
    for name, figure, (_, aspect, m) in zip(names, figures, rows, strict=True):
        interval = [f"{scale.interval(aspect, m):{space}}"] if drawn else []
        also = [f"{'–' if m.acc_eq is None else f'{m.acc_eq:.2f}':6}"] if second else []
        badges = [f"{(m.marks[use].badge or '–') if use in m.marks else '':{COLUMN}}" for use in uses]
        if below:
            yield name
        yield "  ".join([f"{'' if below else name:{side}}", f"{figure:{middle}}", *interval, *also, *badges]).rstrip()


class _Scale:
    """Positions of numbers on a line of characters, from the lowest interval (or chance) to 1."""

    def __init__(self, rows: Sequence[tuple[AspectAnswer, MetricAnswer]], space: int) -> None:
        ends = [end for _, m in rows for end in (m.low, m.value) if end is not None]
        self.low, self.high = min([0.5, *ends]), 1.0
        self.space = space

    def position(self, value: float) -> int:
        share = (value - self.low) / (self.high - self.low)
        return min(self.space - 1, max(0, round(share * (self.space - 1))))

    def ruler(self) -> str:
        """Ticks at 0.5, 0.75 and 1."""
        line = [" "] * self.space
        for value, text in ((0.5, "0.5"), (0.75, "0.75"), (1.0, "1")):
            start = min(self.position(value), self.space - len(text))
            line[start : start + len(text)] = text
        return "".join(line[: self.space])

    def interval(self, aspect: AspectAnswer, m: MetricAnswer) -> str:
        """`├──●──┤`, with a dot at chance."""
        line = [" "] * self.space
        line[self.position(aspect.chance)] = "·"
        if m.value is None or m.low is None or m.high is None:
            return "".join(line)
        start, end = self.position(m.low), self.position(m.high)
        for i in range(start, end + 1):
            line[i] = "─"
        line[start], line[end] = "├", "┤"
        line[self.position(m.value)] = "●"
        return "".join(line)
