"""Selection of the settings of CTC by embedding matching, repeated: `nlgauge reproduce deng2021 choice`.

The rule, in `choose`: of all settings of a grid, the one with the highest global Pearson correlation on ONE named set;
the first among ties. It is applied twice: to the paper's formula alone (`formula='paper'`, the default of `ctc`), and
to several ways to aggregate the same alignments (`formula='chosen'`). No other set is used. The other sets are then
reported. Consistency is selected on QAGS-CNN/DM, and once more on QAGS-XSUM for abstractive summaries; dialogue on
Persona-Chat; relevance and preservation have one set each, whose even-numbered inputs are used for selection and
odd-numbered inputs for reporting.

All texts of a few inputs are encoded once for all layers, and every setting of the grid is computed from their
alignments.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from nlgauge import Table
from nlgauge.metrics import Batch, metric_from_spec, take, usable
from nlgauge.plugins import Layout, NameUnknown, Row, did_you_mean
from nlgauge.stats import Measure, evaluate
from nlgauge_papers import Sources, Tell, further
from nlgauge_papers.common import Array, Ints
from nlgauge_papers.deng2021.estimators import (
    ABSTRACTIVE,
    SETS,
    Case,
    Sets,
    align_spec,
    cases,
    correlations,
    first_references,
)

LAYERS, WINDOWS, SHARP = (1, 2, 3, 4, 5, 6), (0, 1, 2), (1.0, 2.0, 3.0)
Term = tuple[str, tuple[str, ...]]  # y>[x,c] as ("y", ("x", "c"))
MATCH = ("all", "best", "sentence")
TOGETHER = 8  # sources whose texts are encoded together: bounds memory


@dataclass(frozen=True)
class ChoiceTask:
    """What is selected, on which set, among which formulas (the paper's first)."""

    name: str
    on: Case
    formulas: tuple[str, ...]
    windows: tuple[int, ...] = WINDOWS

    def settings(self, quick: bool) -> Iterator[Setting]:
        """Yield the settings of the grid, simple settings first."""
        layers, sizes = (LAYERS[2:], tuple(w for w in self.windows if w != 1)) if quick else (LAYERS, self.windows)
        places = [(w, m) for w in sizes for m in (MATCH if w else MATCH[:1])]
        for (window, match), sharp, unit, stop, layer in itertools.product(
            places, SHARP, ("piece", "word"), (False, True), layers
        ):
            yield Setting(layer, window, match, sharp, stop, unit)


def _sums(term: str) -> tuple[str, ...]:
    return f"sum({term})", f"distinct({term})", f"sqrt(sum({term}))", f"sqrt(distinct({term}))"


TASKS = {
    task.name: task
    for task in (
        ChoiceTask("consistency", Case("D.4", "qags-cnndm", "consistency", ""), ("mean(y>x)", "low(y>x)", "half(y>x)")),
        ChoiceTask("abstractive", Case("D.4", "qags-xsum", "consistency", ""), ("mean(y>x)", "low(y>x)", "half(y>x)")),
        ChoiceTask(
            "relevance",
            Case("D.3", "summeval", "relevance", "", 11, 0),
            (
                "mean(r>y) * mean(y>x)",
                "harmonic(mean(r>y), mean(y>x))",
                "mean(r>y) / mean(r>x) * mean(y>x)",
                "mean(r>y) * half(y>x)",
                "harmonic(mean(r>y), mean(y>r)) * mean(y>x)",
            ),
        ),
        ChoiceTask(
            "preservation",
            Case("E.1", "yelp", "preservation", "", 0, 0),
            ("harmonic(mean(y>x), mean(x>y))", "mean(y>x) * mean(x>y)", "min(mean(y>x), mean(x>y))"),
            (0,),
        ),
        ChoiceTask("engagingness", Case("F.1", "usr-persona", "engagingness", ""), _sums("y>[x,c]")),
        ChoiceTask("groundedness", Case("F.2", "usr-persona", "groundedness", ""), _sums("y>c")),
    )
}


class Setting(NamedTuple):
    """One cell of the grid: how E aligns, and which tokens count."""

    layer: int
    window: int
    match: str
    sharp: float
    stop: bool
    unit: str


@dataclass(frozen=True)
class RecordedNumbers:
    """The aggregates of every alignment that a task's formulas need, under every setting of its grid.

    `numbers` has one array for each aggregate, term and setting, one value per sample, or per sample and reference;
    `owner` is the sample that a value belongs to.
    """

    owner: Ints
    numbers: dict[tuple[Any, ...], Array]

    def values(self, expression: Any, s: Setting) -> Array:
        """Return one value per sample, the mean over its references where there are some."""
        each = expression.values(lambda name, term: self.numbers[name, term, *_about(term, s)])
        total = np.bincount(self.owner, np.broadcast_to(each, len(self.owner)))
        return np.asarray(total / np.bincount(self.owner))


def record(batch: Batch, expressions: Sequence[Any], settings: Sequence[Setting], tell: Tell) -> RecordedNumbers:
    """Align the texts of a few inputs at a time under every setting, and store the aggregates that the formulas
    need.
    """
    wanted = list(dict.fromkeys(pair for e in expressions for pair in _aggregates_of(e)))
    groups: dict[tuple[int, int], list[int]] = {}
    for i, place in enumerate(zip(batch.source.tolist(), batch.context.tolist(), strict=True)):
        groups.setdefault(place, []).append(i)
    waiting = list(groups.values())
    parts = []
    for index in range(0, len(waiting), TOGETHER):
        rows = np.array([i for group in waiting[index : index + TOGETHER] for i in group], np.int64)
        owner, numbers = _numbers(take(batch, rows), wanted, settings)
        parts.append((rows[owner], numbers))
        tell(f"{min(index + TOGETHER, len(waiting))} of {len(waiting)} inputs matched")
    owners = np.concatenate([owner for owner, _ in parts])
    return RecordedNumbers(owners, {key: np.concatenate([numbers[key] for _, numbers in parts]) for key in parts[0][1]})


def _aggregates_of(expression: Any) -> list[tuple[str, Term]]:
    """Return the aggregates in an expression, such as mean of y>x or sum of y>c."""
    results: list[tuple[str, Term]] = []

    def number(name: str, term: Term) -> float:
        results.append((name, term))
        return 1.0

    expression.values(number)
    return results


def _is_whole(term: Term) -> bool:
    """Return whether a text is always read completely, as outputs and references are."""
    return set(term[1]) <= {"y", "r"}


def _about(term: Term, s: Setting) -> Setting:
    """Return what the number of a term depends on."""
    return s._replace(window=0, match="all") if _is_whole(term) else s


def _numbers(
    batch: Batch, wanted: Sequence[tuple[str, Term]], settings: Sequence[Setting]
) -> tuple[Ints, dict[tuple[Any, ...], Array]]:
    """Return the owner of each row, and the aggregates of one part of the samples."""
    readings: dict[tuple[int, int, str], list[Term]] = {}
    for term in dict.fromkeys(term for _, term in wanted):
        for s in dict.fromkeys(_about(term, s) for s in settings):
            terms = readings.setdefault((s.layer, s.window, s.match), [])
            terms += [term] if term not in terms else []
    metrics: dict[tuple[int, int, str], Any] = {
        (layer, window, match): metric_from_spec(
            f"align-expr(expr={_sum_of(terms)!r}, layer={layer}, window={window}, match={match!r})"
        )
        for (layer, window, match), terms in readings.items()
    }
    for metric in metrics.values():
        metric.prepare(batch)  # one pass of the encoder for all layers
    results: dict[tuple[Any, ...], list[list[float]]] = {}
    for reading, metric in metrics.items():
        alignments = metric.explain(batch)[1]
        for term in readings[reading]:
            names = [name for name, other in wanted if other == term]
            forms = dict.fromkeys((s.sharp, s.stop, s.unit) for s in settings)
            for sharp, stop, unit in forms:
                values = _aggregated(alignments, term, names, (sharp, stop, unit))
                results |= {(name, term, *reading, sharp, stop, unit): v for name, v in values.items()}
    counts = [max(len(values[i]) for values in results.values()) for i in range(len(batch))]
    owner = np.repeat(np.arange(len(batch)), counts)
    return owner, {key: np.concatenate(_repeated(values, counts)) for key, values in results.items()}


def _repeated(values: Sequence[Sequence[float]], counts: Sequence[int]) -> list[Array]:
    """Return one value per reference, also for a term that does not depend on the reference."""
    return [np.repeat(np.array(v, np.float64), n // max(len(v), 1)) for v, n in zip(values, counts, strict=True)]


def _sum_of(terms: Sequence[Term]) -> str:
    return " + ".join(f"mean({a}>[{','.join(b)}])" for a, b in terms)


def _aggregated(
    alignments: Any, term: Term, names: Sequence[str], form: tuple[float, bool, str]
) -> dict[str, list[list[float]]]:
    """Aggregate name -> values by sample and reference, with a cosine exponent and the tokens that count."""
    sharp, stop, unit = form
    available: dict[int, dict[str, float]] = {}
    for terms in (terms for each in alignments for terms in each):
        one = terms[term]
        if id(one) not in available:  # samples share the alignment of equal texts
            counted = replace(one, scores=one.scores**sharp) if sharp != 1 else one
            counted = counted.words() if unit == "word" else counted
            counted = counted.content() if stop else counted
            available[id(one)] = {name: getattr(counted, name)() for name in names}
    return {name: [[available[id(terms[term])][name] for terms in each] for each in alignments] for name in names}


def grid(task: ChoiceTask, sets: Sets, quick: bool = False) -> list[Row]:
    """Return every setting with its global Pearson correlation on the selection set."""
    metrics: dict[str, Any] = {text: metric_from_spec(f"align-expr(expr={text!r})") for text in task.formulas}
    formulas = {text: metric.expression() for text, metric in metrics.items()}
    needs = frozenset().union(*(f.needs for f in formulas.values()))
    batch = first_references(sets.get(task.on.set)[1], task.on.references)
    missing = usable(batch, needs).reasons
    places, human = sets.places(task.on)
    used = np.array(sorted({int(i) for i in places[~np.isnan(places)]} - set(missing)), np.int64)
    settings = list(task.settings(quick))
    recorded = record(take(batch, used), list(formulas.values()), settings, sets.tell)
    rows: list[Row] = []
    tables = []
    for text, expression in formulas.items():
        for s in settings:
            values = np.full(len(batch) + 1, np.nan)  # one more: a cell without an output
            values[used] = recorded.values(expression, s)
            tables.append(values[np.where(np.isnan(places), len(batch), places).astype(np.int64)])
            rows.append({"task": task.name, "formula": text, "setting": f"{text}: {_words(s)}", **s._asdict()})
    result = evaluate(np.stack(tables), human, [Measure.parse("global/pearson")]).value[:, 0]
    return [row | {"pearson": float(value)} for row, value in zip(rows, result, strict=True)]


def _words(s: Setting) -> str:
    windows = f"windows of {s.window}, {s.match}" if s.window else "whole text"
    return f"{windows}; cosine^{s.sharp:g}; {s.unit}s; {'without stop words' if s.stop else 'all words'}"


def choose(rows: Sequence[Row], formula: str | None = None) -> Row:
    """Apply the rule: the highest correlation, the first among ties; with `formula` among its settings only."""
    return max((r for r in rows if formula in (None, r["formula"])), key=lambda r: r["pearson"])


def settings_of(row: Row) -> Setting:
    """Return the setting of a row of the grid."""
    return Setting(*(row[name] for name in Setting._fields))


def spec_of(task: ChoiceTask, row: Row, kind: str) -> tuple[str, bool]:
    """Return the metric with these settings, and whether they are its defaults in the code."""
    spec = align_spec(row["formula"], settings_of(row))
    if task.name == "abstractive":
        return spec, kind == "chosen" or spec == ABSTRACTIVE
    more = "" if kind == "paper" else ", formula='chosen'"
    own: Any = metric_from_spec(f"ctc(aspect='{task.name}'{more})")
    return (str(own), True) if align_spec(own.expression().text, own.settings()) == spec else (spec, False)


def reported(task: ChoiceTask, rows: Sequence[Row], sets: Sets, draws: int, seed: int) -> list[Row]:
    """Report the two selections on all sets of the task."""
    about = dict.fromkeys((c.table, c.set, c.references, c.half) for c in cases() if c.aspect == task.on.aspect)
    results = []
    for kind, row in (("paper", choose(rows, task.formulas[0])), ("chosen", choose(rows))):
        spec, same = spec_of(task, row, kind)
        for table, name, references, half in about:
            case = Case(table, name, task.on.aspect, spec, references, half)
            here = (name, half, references) == (task.on.set, task.on.half, task.on.references)
            both = name == task.on.set and half is None and task.on.half is not None
            got = correlations(sets, case, draws, seed)
            results.append(
                {
                    "task": task.name,
                    "formula": kind,
                    "metric": spec,
                    "set": got["set"],
                    "references": references or None,
                    "pearson": got["pearson"],
                    "low": got["low"],
                    "high": got["high"],
                    "spearman": got["spearman"],
                    "role": "chosen here" if here else "half chosen here" if both else "reported",
                    "in the code": same,
                }
            )
    return results


@further("deng2021", "choice", title="Selection of the settings of E", sets=SETS)
def tables(sources: Sources, task: str = "", quick: bool = False, draws: int = 1000, seed: int = 0) -> list[Table]:
    """Return a grid for each task (or for one), then both selections on all sets. quick: layers 3-6, whole texts or
    pairs.
    """
    sets = Sets(sources)
    if task and task not in TASKS:
        raise NameUnknown(f"task={task}: no such task.{did_you_mean(task, TASKS)} There are {', '.join(TASKS)}.")
    grids, rows = [], []
    for each in (TASKS[name] for name in ([task] if task else TASKS)):
        sets.tell(f"{each.name}: grid on {each.on.set}")
        result = grid(each, sets, quick)
        half = "" if each.on.half is None else ", inputs at even places"
        grids.append(
            Table(
                f"Settings tried for {each.name} on {each.on.set}{half}",
                result,
                Layout("setting", "layer", "pearson"),
                method=f"global Pearson correlation with human ratings of each of {len(result)} settings; columns: the "
                "encoder's layer.",
                notes=[
                    f"best with the paper's formula: {choose(result, each.formulas[0])['setting']}, layer "
                    f"{choose(result, each.formulas[0])['layer']}; of all: {choose(result)['setting']}, layer "
                    f"{choose(result)['layer']}"
                ],
            )
        )
        rows += reported(each, result, sets, draws, seed)
    last = Table(
        "Selected settings, on all sets",
        rows,
        method="the highest global Pearson correlation on the set marked 'chosen here', nothing else; low, high: 95% "
        f"percentile bootstrap over inputs, {draws} draws, seed {seed}.",
        notes=["in the code: these are the settings that ctc and papers/deng2021/estimators.py use."],
    )
    return [*grids, last]
