"""The answer on a terminal: the evaluated data, the conclusion, and rows with value, interval, baseline and badges.

At most 18 lines at 80 columns, whatever the number of metrics and aspects; the page has the rest. Nothing is computed
here: every word and number is in the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nlgauge.options import option
from nlgauge.report.answer_words import STATISTICS
from nlgauge.report.forest import ForestAxis, scale_of
from nlgauge.report.sections.words import ci, two
from nlgauge.terminal import wrapped

if TYPE_CHECKING:
    from nlgauge.report.answer_types import AspectAnswer, Mark, MetricAnswer, ReportAnswer

MAX_LINES = 18  # the path of the report is one more
MIN_AXIS, MAX_AXIS = 16, 40  # characters
SHORT_USES = {
    "replace an annotator": "annotator",
    "catch failures": "failures",
    "pass good answers": "passes",
    "tell good from bad": "pass or fail",
}


@dataclass(frozen=True)
class ForestRow:
    """One row of the forest plot: a name, a value with its interval, and badges."""

    name: str
    mark: Mark | MetricAnswer
    cells: Sequence[str] = ()

    @property
    def figure(self) -> str:
        """Return the value with its interval."""
        return ci(self.mark.value, self.mark.low, self.mark.high)


@dataclass(frozen=True)
class Forest:
    """Rows of the forest plot, the headings of their columns, and the baselines."""

    head: str
    statistic: str
    columns: Sequence[str]
    rows: Sequence[ForestRow]
    baselines: Sequence[tuple[str, float]]


def answer_lines(answer: ReportAnswer, width: int = 80, most: int = MAX_LINES) -> list[str]:
    """Return the lines that `nlgauge run` prints.

    >>> import nlgauge as ng
    >>> lines = answer_lines(ng.report(ng.example(), quick=True).answer)
    >>> len(lines) <= 18, max(map(len, lines)) <= 80
    (True, True)
    """
    lines = _wrapped([*answer.failures, answer.evaluated, *answer.warnings], width)
    aspects = [a for a in answer.aspects if a.metrics]
    if all(a.warning for a in aspects):  # nothing to draw, and the warnings say why
        return lines
    several = len(aspects) > 1
    forest = _aspects_forest(aspects) if several else _forest_of(aspects[0])
    changes = [f"Since the earlier run, {text}" for text in answer.changes]
    conclusion = _wrapped([*(a.sentences[""] for a in aspects), *changes], width)
    tall = 2 if _two_lines(forest, width) else 1
    hidden = _wrapped(_hidden_columns(forest, width), width)
    room = most - len(lines) - len(hidden) - 3  # two blank lines, and the head of the forest
    if several and len(conclusion) + tall * len(forest.rows) > room:
        conclusion = [f"The page has a conclusion for each aspect (or use {option('aspect')}); in short:"]
    room -= len(conclusion)
    baselines = list(forest.baselines)
    while baselines and tall * len(forest.rows) + len(baselines) > room and (tall > 1 or len(baselines) > 1):
        baselines.pop(0)
    room -= len(baselines)
    fitting = len(forest.rows) if tall * len(forest.rows) <= room else max(1, (room - 1) // tall)
    left = len(forest.rows) - fitting
    more = [f"{left} more {'aspects' if several else 'metrics'} on the page"] if left else []
    shown = Forest(forest.head, forest.statistic, forest.columns, forest.rows[:fitting], baselines)
    return [*lines, "", *conclusion, "", *_drawn_forest(shown, width), *hidden, *more]


def _wrapped(texts: Sequence[str], width: int) -> list[str]:
    return [line for text in texts for line in wrapped(text, width)]


def _forest_of(aspect: AspectAnswer) -> Forest:
    """Return the metrics of one aspect, or the statistics of one judge."""
    judge = aspect.metrics[0]
    if len(aspect.metrics) == 1 and judge.rates:
        rows = [ForestRow(name, mark, [mark.badge or ""]) for name, mark in judge.rates]
        base = judge.majority
        baselines = (
            []
            if base is None or base.value is None
            else [(f'always "{judge.usual}"' if judge.usual else "majority class", base.value)]
        )
        return Forest(judge.metric, "value [95% CI]", [""], rows, baselines)
    tied = any(m.acc_eq is not None for m in aspect.metrics)
    rows = [
        ForestRow(m.metric, m, [*([two(m.acc_eq)] if tied else []), *_badges(m, aspect.uses)]) for m in aspect.metrics
    ]
    heads = [*(["acc_eq"] if tied else []), *(SHORT_USES.get(use, use) for use in aspect.uses)]
    baselines = (
        [("chance" if n == "constant" else n, v) for n, v in aspect.baselines.items()] if not aspect.judged else []
    )
    return Forest("judge" if aspect.judged else "metric", _statistic(aspect), heads, rows, baselines)


def _aspects_forest(aspects: Sequence[AspectAnswer]) -> Forest:
    """Return the best metric of each aspect."""
    uses = list(dict.fromkeys(use for a in aspects for use in a.uses))
    rows = [ForestRow(f"{a.about}: {a.metrics[0].metric}", a.metrics[0], _badges(a.metrics[0], uses)) for a in aspects]
    heads = [SHORT_USES.get(use, use) for use in uses]
    return Forest("best metric", _statistic(aspects[0]), heads, rows, [("chance", aspects[0].chance)])


def _badges(metric: MetricAnswer, uses: Sequence[str]) -> list[str]:
    return [(metric.marks[use].badge or "–") if use in metric.marks else "" for use in uses]


def _statistic(aspect: AspectAnswer) -> str:
    return STATISTICS.get(aspect.measure, (aspect.measure,))[0]


def _two_lines(forest: Forest, width: int) -> bool:
    """Return whether a name is so long that its value must be printed below it."""
    return max(len(row.name) for row in forest.rows) + 2 + len(forest.statistic) > width


def _columns_that_fit(forest: Forest, width: int) -> tuple[int, int, int, list[int]]:
    """Return the widths of the name and of the value, the room for the axis, and the widths of the columns that fit.

    Badges come before the axis, which shows the interval once more.
    """
    names = [forest.head, *(name for name, _ in forest.baselines)]
    names += [] if _two_lines(forest, width) else [row.name for row in forest.rows]
    side = max(map(len, names))
    middle = max(len(forest.statistic), *(len(r.figure) for r in forest.rows))
    room = width - side - middle - 4
    columns = [max(len(head), *(len(r.cells[k]) for r in forest.rows)) for k, head in enumerate(forest.columns)]
    needed = sum(columns) + 2 * len(columns)
    intervals = any(r.mark.low is not None for r in forest.rows)
    drawn = intervals and room >= MIN_AXIS and not room - MIN_AXIS < needed <= room
    room -= MIN_AXIS if drawn else 0
    fitting = [wide for k, wide in enumerate(columns, 1) if sum(columns[:k]) + 2 * k <= room]
    axis = min(MAX_AXIS, MIN_AXIS + room - sum(fitting) - 2 * len(fitting)) if drawn else 0
    return side, middle, axis, fitting


def _hidden_columns(forest: Forest, width: int) -> list[str]:
    """Name the columns for which there is no room."""
    hidden = [head for head in forest.columns[len(_columns_that_fit(forest, width)[-1]) :] if head]
    return [f"Columns on the page, for lack of room here: {', '.join(hidden)}."] if hidden else []


def _drawn_forest(forest: Forest, width: int) -> Iterator[str]:
    """Yield one line per row: name, value with interval, the interval on an axis, and badges, as far as they fit."""
    below = _two_lines(forest, width)
    side, middle, space, widths = _columns_that_fit(forest, width)
    drawn = space > 0
    ends = [v for r in forest.rows for v in (r.mark.low, r.mark.value)]
    scale = scale_of([*ends, *(v for _, v in forest.baselines)])

    def line(name: str, figure: str, axis: str, cells: Sequence[str]) -> str:
        padded = (f"{cell:{wide}}" for cell, wide in zip(cells, widths, strict=False))
        return "  ".join([f"{name:{side}}", f"{figure:{middle}}", *([axis] if drawn else []), *padded]).rstrip()

    yield line(forest.head, forest.statistic, _ruler(scale, space), forest.columns)
    for row in forest.rows:
        if below:
            yield row.name
        yield line("" if below else row.name, row.figure, _interval(scale, space, row), row.cells)
    for name, value in forest.baselines:
        mark = "".join("•" if k == _position(scale, space, value) else " " for k in range(space))
        text = f"{two(value)} (baseline)"
        yield line(name, text, mark, ()) if len(text) <= middle else line(name, two(value), mark, ["(baseline)"])


def _ruler(scale: ForestAxis, space: int) -> str:
    """Return the ticks of the axis with their values."""
    marks = [" "] * space
    for value, text in scale.ticks:
        start = min(_position(scale, space, value), space - len(text))
        marks[start : start + len(text)] = text
    return "".join(marks[:space])


def _position(scale: ForestAxis, space: int, value: float) -> int:
    return min(space - 1, max(0, round(scale.share(value) * (space - 1))))


def _interval(scale: ForestAxis, space: int, row: ForestRow) -> str:
    """Return an interval as drawn on the axis, as in `├──●──┤`."""
    marks, value, low, high = [" "] * space, row.mark.value, row.mark.low, row.mark.high
    if not space or value is None or low is None or high is None:
        return "".join(marks)
    start, end = _position(scale, space, low), _position(scale, space, high)
    marks[start : end + 1] = "─" * (end + 1 - start)
    marks[start], marks[end] = "├", "┤"
    marks[_position(scale, space, value)] = "●"
    return "".join(marks)
