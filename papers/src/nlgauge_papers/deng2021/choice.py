"""How the settings of CTC by embedding matching were chosen, repeated: `nlgauge reproduce deng2021 choice`.

The rule, in `choose`: of all settings of a grid, the one with the highest global Pearson correlation on ONE named set;
of equal ones the first. It is applied twice: to the paper's formula alone (`formula='paper'`, the default of `ctc`),
and to a few other ways to aggregate the same alignments (`formula='chosen'`). Nothing else is looked at. The other sets
are then reported. Consistency is chosen on QAGS-CNN/DM, and once more on QAGS-XSUM for abstractive summaries; dialogue
on Persona-Chat; relevance and preservation have one set each: its inputs at even places choose, those at odd places
report.

All texts are encoded once with all layers; only each token's highest cosine with each window is kept, and every setting
of the grid is read off that.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nlgauge.errors import NameUnknown
from nlgauge.metrics import metric_from_spec
from nlgauge.metrics.alignment.alignments import Alignment, ToAlign
from nlgauge.metrics.alignment.aspects import ASPECTS, Settings, counted, pair_of
from nlgauge.metrics.alignment.ctc import samples_of
from nlgauge.metrics.alignment.expression import AGGREGATES, Expression, Term, parse
from nlgauge.metrics.alignment.matching import maxima, reading, scores, side, spans_of, windows_of
from nlgauge.models.encoder import encoder
from nlgauge.registry import did_you_mean
from nlgauge.scoring.store import Store
from nlgauge.table import Layout, Row, Table
from nlgauge_papers import Sources, Tell, further
from nlgauge_papers.deng2021.estimators import ABSTRACTIVE, SETS, Case, Sets, cases, correlations, first_references

LAYERS, WINDOWS, SHARP = (1, 2, 3, 4, 5, 6), (0, 1, 2), (1.0, 2.0, 3.0)
MATCH = ("all", "best", "sentence")
TOGETHER = 8  # sources whose texts are encoded together: bounds memory


@dataclass(frozen=True)
class ChoiceTask:
    """What is chosen, on which set, among which formulas (the paper's first)."""

    name: str
    on: Case
    formulas: tuple[str, ...]
    windows: tuple[int, ...] = WINDOWS

    def settings(self, quick: bool) -> Iterator[Settings]:
        """The grid, simple settings first."""
        layers, sizes = (LAYERS[2:], tuple(w for w in self.windows if w != 1)) if quick else (LAYERS, self.windows)
        places = [(w, m) for w in sizes for m in (MATCH if w else MATCH[:1])]
        for (window, match), sharp, unit, stop, layer in itertools.product(
            places, SHARP, ("piece", "word"), (False, True), layers
        ):
            yield Settings(layer, window, match, sharp, stop, unit)  # type: ignore[arg-type]


def _sums(term: str) -> tuple[str, ...]:
    return f"sum({term})", f"distinct({term})", f"sqrt(sum({term}))", f"sqrt(distinct({term}))"


TASKS = {
    task.name: task
    for task in (
        ChoiceTask("consistency", Case("D.4", "qags-cnndm", "consistency", ""), ("mean(y>x)", "low(y>x)", "half(y>x)")),
        ChoiceTask("abstractive", Case("D.4", "qags-xsum", "consistency", ""), ("mean(y>x)", "low(y>x)", "half(y>x)")),
        ChoiceTask(
            "relevance", Case("D.3", "summeval", "relevance", "", 11, 0),
            (
                "mean(r>y) * mean(y>x)", "harmonic(mean(r>y), mean(y>x))", "mean(r>y) / mean(r>x) * mean(y>x)",
                "mean(r>y) * half(y>x)", "harmonic(mean(r>y), mean(y>r)) * mean(y>x)",
            ),
        ),
        ChoiceTask(
            "preservation", Case("E.1", "yelp", "preservation", "", 0, 0),
            ("harmonic(mean(y>x), mean(x>y))", "mean(y>x) * mean(x>y)", "min(mean(y>x), mean(x>y))"), (0,),
        ),
        ChoiceTask("engagingness", Case("F.1", "usr-persona", "engagingness", ""), _sums("y>[x,c]")),
        ChoiceTask("groundedness", Case("F.2", "usr-persona", "groundedness", ""), _sums("y>c")),
    )
}  # fmt: skip


@dataclass
class RecordedAlignments:
    """Every alignment that a task's formulas need, as maxima per layer and window size; numbers are made from them."""

    rows: list[dict[Term, ToAlign]]  # one per sample, or per sample and reference
    owner: Any  # the sample that a row belongs to
    found: dict[
        ToAlign, dict[tuple[int, int, bool], Any]
    ]  # by layer, window size, and whether sentences of a are read alone
    spans: dict[tuple[str, bool], Any]
    kept: dict[Any, Any] = field(default_factory=dict)

    def number(self, name: str, term: Term, s: Settings) -> Any:
        """The aggregate of a term for every row. What is never read in windows does not depend on them."""
        whole = self.rows[0][term].whole
        key = (name, term, s.layer, s.sharp, s.stop, s.unit, *(() if whole else (s.window, s.match)))
        if key not in self.kept:
            known: dict[ToAlign, float] = {}
            for row in self.rows:
                if row[term] not in known:
                    known[row[term]] = AGGREGATES[name](self._alignment(row[term], s))
            self.kept[key] = np.array([known[row[term]] for row in self.rows])
        return self.kept[key]

    def _alignment(self, pair: ToAlign, s: Settings) -> Alignment:
        window = 0 if pair.whole else s.window
        alone = s.match == "sentence" and window > 0
        spans = self.spans[pair.a, alone]
        near = self.found[pair][s.layer or 0, window, alone]
        return counted(Alignment(pair.a, spans, scores(pair.a, spans, near, s.match, s.sharp)), s.stop, s.unit)  # type: ignore[arg-type]

    def values(self, expression: Expression, s: Settings) -> Any:
        """One value per sample, the mean over its references where there are some."""
        each = np.broadcast_to(expression.values(lambda name, term: self.number(name, term, s)), len(self.rows))
        return np.bincount(self.owner, each) / np.bincount(self.owner)


def record(
    samples: Sequence[dict[str, Any]], terms: Sequence[Term], layers: Sequence[int], sizes: Sequence[int], tell: Tell
) -> RecordedAlignments:
    many = any("r" in (a, *b) for a, b in terms)
    rows, owner = [], []
    for i, sample in enumerate(samples):
        for reference in sample["r"] if many else [None]:
            rows.append({t: pair_of(t, {**sample, "r": reference}) for t in terms})
            owner.append(i)
    groups: dict[Any, list[ToAlign]] = {}
    for i, row in zip(owner, rows, strict=True):
        groups.setdefault((samples[i]["x"], samples[i]["c"]), []).extend(row.values())
    done = RecordedAlignments(rows, np.array(owner), {}, {})
    waiting = list(groups.values())
    for at in range(0, len(waiting), TOGETHER):
        pairs = list(dict.fromkeys(p for group in waiting[at : at + TOGETHER] for p in group))
        _match(pairs, layers, sizes, done)
        tell(f"{min(at + TOGETHER, len(waiting))} of {len(waiting)} inputs matched")
    return done


def _match(pairs: list[ToAlign], layers: Sequence[int], sizes: Sequence[int], done: RecordedAlignments) -> None:
    """Encode the texts of these pairs once, and keep the maxima of every layer and window size."""
    sizes_of = {p: (0,) if p.whole else tuple(sizes) for p in pairs}
    parts = {(p.b, n): [w for t in p.b for w in windows_of(t, n)] for p in pairs for n in sizes_of[p]}
    ways = {(p, False): [(0, p.a)] for p in pairs}
    ways |= {(p, True): reading(p, "sentence", max(sizes)) for p in pairs if any(sizes_of[p])}
    mine = (text for way in ways.values() for _, text in way)
    texts = list(dict.fromkeys([*mine, *(w for ws in parts.values() for w in ws)]))
    vectors = dict(zip(texts, encoder().encode(texts, layers), strict=True))
    for layer in layers:
        sides = {key: side([vectors[w][layer] for w in ws]) for key, ws in parts.items()}
        for (p, alone), way in ways.items():
            read = [(first, vectors[text][layer]) for first, text in way]
            done.spans[p.a, alone] = spans_of(read)
            for n in sizes_of[p]:
                if n or not alone:
                    near = np.concatenate([maxima(e, sides[p.b, n]) for _, e in read])
                    done.found.setdefault(p, {})[layer, n, alone] = near.astype(np.float32)


def grid(task: ChoiceTask, sets: Sets, quick: bool = False) -> list[Row]:
    """Every setting with its global Pearson correlation on the set that chooses."""
    from nlgauge.stats.correlation.measure import Measure, evaluate

    formulas = {text: parse(text) for text in task.formulas}
    terms = list(dict.fromkeys(t for f in formulas.values() for t in f.terms))
    needs = frozenset().union(*(f.needs for f in formulas.values()))
    batch = first_references(sets.get(task.on.set)[1], task.on.references)
    samples, missing, _ = samples_of(batch, needs)
    places, human = sets.places(task.on)
    used = sorted({int(i) for i in places[~np.isnan(places)]} - set(missing))
    settings = list(task.settings(quick))
    layers, sizes = (sorted({getattr(s, k) for s in settings}) for k in ("layer", "window"))
    recorded = record([samples[i] for i in used], terms, layers, sizes, sets.tell)
    rows: list[Row] = []
    tables = []
    for text, expression in formulas.items():
        for s in settings:
            values = np.full(len(batch) + 1, np.nan)  # one more: a cell without an output
            values[used] = recorded.values(expression, s)
            tables.append(values[np.where(np.isnan(places), len(batch), places).astype(np.int64)])
            words = "without stop words" if s.stop else "all words"
            windows = f"windows of {s.window}, {s.match}" if s.window else "whole text"
            rows.append({"task": task.name, "formula": text, "setting": f"{text}: {windows}; cosine^{s.sharp:g}; "
                f"{s.unit}s; {words}",
                         "layer": s.layer, "window": s.window, "match": s.match, "sharp": s.sharp, "unit": s.unit,
                         "stop": s.stop})  # fmt: skip
    found = evaluate(np.stack(tables), human, [Measure.parse("global/pearson")]).value[:, 0]
    return [row | {"pearson": float(value)} for row, value in zip(rows, found, strict=True)]


def choose(rows: Sequence[Row], formula: str | None = None) -> Row:
    """The rule: the highest correlation, of equal ones the first; with `formula` among its settings only."""
    return max((r for r in rows if formula in (None, r["formula"])), key=lambda r: r["pearson"])


def settings_of(row: Row) -> Settings:
    return Settings(*(row[k] for k in ("layer", "window", "match", "sharp", "stop", "unit")))


def spec_of(task: ChoiceTask, row: Row, kind: str) -> tuple[str, bool]:
    """The metric with these settings, and whether the code has them as its own."""
    s = settings_of(row)
    spec = (
        f"align-expr(expr={row['formula']!r}, layer={s.layer}, window={s.window}, match={s.match!r}, sharp={s.sharp}, "
        f"stop={s.stop}, unit={s.unit!r})"
    )
    if task.name == "abstractive":
        return str(metric_from_spec(spec)), kind == "chosen" or str(metric_from_spec(spec)) == ABSTRACTIVE
    own = ASPECTS[task.name].form(kind)
    if (own.formula, own.settings) != (row["formula"], s):
        return str(metric_from_spec(spec)), False
    more = "" if kind == "paper" else ", formula='chosen'"
    return str(metric_from_spec(f"ctc(aspect='{task.name}'{more})")), True


def reported(task: ChoiceTask, rows: Sequence[Row], sets: Sets, draws: int, seed: int) -> list[Row]:
    """The two choices on all sets of the task."""
    about = dict.fromkeys((c.table, c.set, c.references, c.half) for c in cases() if c.aspect == task.on.aspect)
    found = []
    for kind, row in (("paper", choose(rows, task.formulas[0])), ("chosen", choose(rows))):
        spec, same = spec_of(task, row, kind)
        for table, name, references, half in about:
            case = Case(table, name, task.on.aspect, spec, references, half)
            here = (name, half, references) == (task.on.set, task.on.half, task.on.references)
            both = name == task.on.set and half is None and task.on.half is not None
            got = correlations(sets, case, draws, seed)
            found.append({"task": task.name, "formula": kind, "metric": spec, "set": got["set"],
                          "references": references or None,
                          "pearson": got["pearson"], "low": got["low"], "high": got["high"],
                          "spearman": got["spearman"],
                          "role": "chosen here" if here else "half chosen here" if both else "reported",
                          "in the code": same})  # fmt: skip
    return found


@further("deng2021", "choice", title="How the settings of E were chosen", sets=SETS)
def tables(sources: Sources, task: str = "", quick: bool = False, draws: int = 1000, seed: int = 0) -> list[Table]:
    """A grid for each task (or for one), then both choices on all sets. quick: layers 3-6, whole texts or pairs."""
    sets = Sets(sources.mirror, Store(sources.store), sources.tell)
    if task and task not in TASKS:
        raise NameUnknown(f"task={task}: no such task.{did_you_mean(task, TASKS)} There are {', '.join(TASKS)}.")
    grids, rows = [], []
    for each in (TASKS[name] for name in ([task] if task else TASKS)):
        sets.tell(f"{each.name}: grid on {each.on.set}")
        found = grid(each, sets, quick)
        half = "" if each.on.half is None else ", inputs at even places"
        grids.append(Table(
            f"Settings tried for {each.name} on {each.on.set}{half}", found, Layout("setting", "layer", "pearson"),
            method=f"global Pearson correlation with people of each of {len(found)} settings; columns: the "
                   "encoder's layer.",
            notes=[f"best with the paper's formula: {choose(found, each.formulas[0])['setting']}, layer "
                   f"{choose(found, each.formulas[0])['layer']}; of all: {choose(found)['setting']}, layer "
                   f"{choose(found)['layer']}"],
        ))  # fmt: skip
        rows += reported(each, found, sets, draws, seed)
    last = Table(
        "What the rule chose, on all sets", rows,
        method="the highest global Pearson correlation on the set marked 'chosen here', nothing else; low, high: 95% "
        f"percentile bootstrap over inputs, {draws} draws, seed {seed}.",
        notes=["in the code: these are the settings that ctc and papers/deng2021/estimators.py use."],
    )  # fmt: skip
    return [*grids, last]
