"""The answer on a terminal: what was evaluated, the verdict in words, a forest of intervals and the marks of each use.

At most 15 lines at 80 columns, whatever the number of metrics and aspects; the page has the rest. Nothing is computed
here: every word and number stands in the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nlgauge.options import option
from nlgauge.report.answer_words import STATISTICS
from nlgauge.report.forest import ForestAxis, scale_of
from nlgauge.report.sections.words import ci
from nlgauge.terminal import wrapped

if TYPE_CHECKING:
    from nlgauge.report.answer_types import AspectAnswer, MetricAnswer, ReportAnswer

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
    known = [] if several or tall > 1 or left else _baseline_rows(aspects[0])
    baselines = known if len(said) + len(rows) + len(known) <= room else []  # where they take no room from metrics
    return [*lines, *said, *_forest(shown, width, several, baselines), *more]


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


def _forest(rows: Sequence[Line], width: int, several: bool, baselines: Sequence[tuple[str, float]]) -> Iterator[str]:
    """A line each: name, value with its interval, the interval drawn where there is room, badges of this metric."""
    names, below = _names(rows, several), _two_lines(rows, width, several)
    uses = list(dict.fromkeys(use for _, aspect, _ in rows for use in aspect.uses))
    head = "best metric" if several else "metric"
    figures = [ci(m.value, m.low, m.high) for _, _, m in rows]
    statistic = _statistic(rows)
    side = len(head) if below else max(map(len, [head, *names, *(name for name, _ in baselines)]))
    middle = max(map(len, [statistic, *figures]))
    second = any(m.acc_eq is not None for _, _, m in rows)
    space = width - side - middle - 4 - (8 if second else 0)
    uses = uses[: max(0, space // (COLUMN + 2))]
    space = min(WIDEST, space - (COLUMN + 2) * len(uses) - 2)
    scale = scale_of([*(v for _, _, m in rows for v in (m.low, m.value)), *(v for _, v in baselines)])
    drawn = space >= LEAST and any(m.low is not None for _, _, m in rows)
    ruler = [f"{_ruler(scale, space):{space}}"] if drawn else []
    heads = [f"{SHORT.get(use, use):{COLUMN}}" for use in uses]
    heads = ["acc_eq", *heads] if second else heads
    yield "  ".join([f"{head:{side}}", f"{statistic:{middle}}", *ruler, *heads]).rstrip()
    for name, figure, (_, aspect, m) in zip(names, figures, rows, strict=True):
        interval = [f"{_drawn(scale, space, aspect.chance, m):{space}}"] if drawn else []
        also = [f"{'–' if m.acc_eq is None else f'{m.acc_eq:.2f}':6}"] if second else []
        badges = [f"{(m.marks[use].badge or '–') if use in m.marks else '':{COLUMN}}" for use in uses]
        if below:
            yield name
        yield "  ".join([f"{'' if below else name:{side}}", f"{figure:{middle}}", *interval, *also, *badges]).rstrip()
    for name, value in baselines:
        mark = "".join("•" if k == _position(scale, space, value) else " " for k in range(space)) if drawn else ""
        yield "  ".join([f"{name:{side}}", f"{value:<{middle}.2f}", *([mark] if drawn else []), "(baseline)"]).rstrip()


def _ruler(scale: ForestAxis, space: int) -> str:
    """Ticks with their values."""
    line = [" "] * space
    for value, text in scale.ticks:
        start = min(_position(scale, space, value), space - len(text))
        line[start : start + len(text)] = text
    return "".join(line[:space])


def _position(scale: ForestAxis, space: int, value: float) -> int:
    return min(space - 1, max(0, round(scale.share(value) * (space - 1))))


def _drawn(scale: ForestAxis, space: int, chance: float, row: MetricAnswer) -> str:
    """`├──●──┤`, with a dot at chance."""
    line = [" "] * space
    line[_position(scale, space, chance)] = "·"
    if row.value is None or row.low is None or row.high is None:
        return "".join(line)
    start, end = _position(scale, space, row.low), _position(scale, space, row.high)
    for i in range(start, end + 1):
        line[i] = "─"
    line[start], line[end] = "├", "┤"
    line[_position(scale, space, row.value)] = "●"
    return "".join(line)


def _baseline_rows(aspect: AspectAnswer) -> list[tuple[str, float]]:
    """Baselines with a name of their own; chance is marked on the axis and named in the sentence."""
    return [(name, value) for name, value in aspect.baselines.items() if name != "constant" and not aspect.judged]
