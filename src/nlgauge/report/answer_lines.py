"""The answer on a terminal: what was evaluated, the verdict in words, a forest of intervals and the marks of each use.

At most 15 lines at 80 columns, whatever the number of metrics and aspects; the page has the rest. Nothing is computed
here: every word and number stands in the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nlgauge.number import percent
from nlgauge.terminal import wrapped

if TYPE_CHECKING:
    from nlgauge.report.answer import AspectAnswer, MetricAnswer, ReportAnswer

MOST = 14  # lines; the path of the report is one more
SHORT = {
    "rank systems": "rank", "choose of two": "choose", "flag bad": "flag", "replace a rater": "rater",
    "catch failures": "catch", "pass good ones": "pass", "tell good from bad": "tell",
}  # fmt: skip
MARKS = {"good": "good", "usable": "usable", "not": "not", "cannot tell": "?"}
ORDER = ("good", "usable", "cannot tell", "not")  # of a use the best that any metric gets
Line = tuple[str, "AspectAnswer", "MetricAnswer"]
COLUMN, LEAST, WIDEST = 6, 14, 40  # signs of a mark; fewest and most of an interval


def answer_lines(answer: ReportAnswer, width: int = 80, most: int = MOST) -> list[str]:
    """The lines that `nlgauge run` prints.

    >>> import nlgauge as ng, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = ng.report(ng.example(), pathlib.Path(folder) / "page.html", quick=True)
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
    room = most - len(lines) - 3  # head and legend of the forest
    if several and len(said) + len(rows) > room:
        said = ["The sentence of each aspect stands on the page (or --aspect NAME); in short:"]
    shown = rows[: room - len(said) - 1] if len(said) + len(rows) > room else rows
    forest = list(_forest(shown, width, several))
    left = len(rows) - len(shown)
    more = [f"{left} more {'aspects' if several else 'metrics'}"] if left else []
    heads = forest[0].split()
    more += [use for use in dict.fromkeys(use for _, a, _ in shown for use in a.uses) if SHORT[use] not in heads]
    unsure = "?" in " ".join(forest).split()
    legend = _legend(shown, several, more, unsure)
    return [*lines, *said, *forest, *(wrapped(legend, width) if legend else [])]


def _legend(rows: Sequence[Line], several: bool, more: Sequence[str], unsure: bool) -> str:
    """What the signs of the forest mean, and what else the page has."""
    whose = rows[0][1].rated_by
    allows = f"░ most that {whose}'{'s' if whose == 'people' else ''} agreement allows"
    said = [
        *([allows] if any(a.ceiling for _, a, _ in rows) else []), *(["? cannot tell"] if unsure else []),
        *(["marks: any metric's best"] if several else []), *([f"on the page: {', '.join(more)}"] if more else []),
    ]  # fmt: skip
    return "; ".join(said)


def _rows(aspect: AspectAnswer) -> list[Line]:
    return [(m.metric, aspect, m) for m in aspect.metrics]


def _forest(rows: Sequence[Line], width: int, several: bool) -> Iterator[str]:
    """A line each: name, interval, share of what people's agreement allows, marks."""
    names = [f"{name}: {m.metric}" if several else name for name, _, m in rows]
    uses = list(dict.fromkeys(use for _, aspect, _ in rows for use in aspect.uses))
    share = any(m.share is not None for _, _, m in rows)
    head = "closest metric" if several else "metric"
    side = max(map(len, [head, *names]))
    space = width - side - 2 - (6 if share else 0)
    if space - (COLUMN + 2) * len(uses) < LEAST:
        uses = uses[: max(0, (space - LEAST) // (COLUMN + 2))]
    space = min(WIDEST, space - (COLUMN + 2) * len(uses))
    scale = _Scale([(a, m) for _, a, m in rows], space)
    drawn = space >= LEAST and any(m.low is not None for _, _, m in rows)
    space = space if drawn else 0
    heads = [SHORT.get(use, use)[:COLUMN] for use in uses]
    ceiling = any(a.ceiling for _, a, _ in rows)
    ruler = scale.ruler("people ░" if ceiling else "agreement 1") if drawn else ""
    yield _row(head, ruler, "of ░" if share else "", heads, side, space, share)
    for name, (_, aspect, m) in zip(names, rows, strict=True):
        interval = scale.interval(aspect, m) if drawn else ""
        marks = [
            _mark(aspect, use) if several else MARKS[m.marks[use].verdict] if use in m.marks else "" for use in uses
        ]
        part = percent(max(0.0, min(1.0, m.share))) if m.share is not None else ""
        yield _row(name, interval, part, marks, side, space, share)


def _row(name: str, interval: str, share: str, marks: Sequence[str], side: int, space: int, shares: bool) -> str:
    cells = [
        f"{name:{side}}", *([f"{interval:{space}}"] if space else []), *([f"{share:>4}"] if shares else []),
        *(f"{mark:{COLUMN}}" for mark in marks),
    ]  # fmt: skip
    return "  ".join(cells).rstrip()


def _mark(aspect: AspectAnswer, use: str) -> str:
    """The best mark that any metric gets for a use."""
    found = {m.marks[use].verdict for m in aspect.metrics if use in m.marks}
    return MARKS[next((v for v in ORDER if v in found), "cannot tell")]


class _Scale:
    """Places of numbers on a line of characters: from 0, or the lowest interval, to 1 or what people reach."""

    def __init__(self, rows: Sequence[tuple[AspectAnswer, MetricAnswer]], space: int) -> None:
        tops = [a.ceiling.high or a.ceiling.value for a, _ in rows if a.ceiling]
        ends = [end for _, m in rows for end in (m.low, m.high, m.value) if end is not None]
        self.low, self.high = min([0.0, *ends]), max([*(tops or [1.0]), *ends])
        self.space = space

    def at(self, value: float) -> int:
        share = (value - self.low) / (self.high - self.low)
        return min(self.space - 1, max(0, round(share * (self.space - 1))))

    def ruler(self, last: str) -> str:
        """Where 0 is, and what stands at the right."""
        line = [" "] * self.space
        line[self.at(0.0)] = "0"
        return "".join(line)[: self.space - len(last)] + last

    def interval(self, aspect: AspectAnswer, m: MetricAnswer) -> str:
        """`├──●──┤   ░░`: the interval, and how high people's agreement lets a metric come."""
        line = [" "] * self.space
        line[self.at(0.0)] = "·"
        top = aspect.ceiling
        if top is not None:
            for i in range(self.at(top.low or top.value), self.at(top.high or top.value) + 1):
                line[i] = "░"
        if m.value is None or m.low is None or m.high is None:
            return "".join(line)
        start, end = self.at(m.low), self.at(m.high)
        for i in range(start, end + 1):
            line[i] = "─"
        line[start], line[end] = "├", "┤"
        line[self.at(m.value)] = "●"
        return "".join(line)
