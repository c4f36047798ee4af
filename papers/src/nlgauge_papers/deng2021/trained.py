"""deng2021 with trained aligners: D and R beside E and beside the paper's, `nlgauge reproduce deng2021 trained`.

D and R are the heads inside the package, trained on text without labels (docs/aligners.md). Nothing of the sets below
was used in training. How scores become one number, and by which head, is chosen as for E: on QAGS-CNN/DM for
consistency, on Persona-Chat for dialogue, on inputs at even places of SummEval for relevance and of Yelp for
preservation; `--set choose=True` shows that choice.

`--set "trainings=['DIR']"` adds Figure 7 for a training of one's own: held-out accuracy and human correlation at each
checkpoint. With two, for trainings with other targets (`nlgauge train aligner --targets lead`), it is the ablation of
Appendix A.1. Scores go to the store: a second run reads no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.metrics import metric_from_spec
from nlgauge.metrics.alignment.alignments import Alignment, ToAlign
from nlgauge.metrics.alignment.aspects import Settings, counted, pair_of
from nlgauge.metrics.alignment.ctc import samples_of
from nlgauge.metrics.alignment.expression import Expression, parse
from nlgauge.metrics.alignment.features import NAMES, Reader
from nlgauge.metrics.alignment.head import Head
from nlgauge.metrics.alignment.trained import CHOSEN, HEADS, Trained, form, hashed, scores
from nlgauge.models.encoder import DEFAULT
from nlgauge.models.loading import fingerprint
from nlgauge.scoring.store import Store, StoredScore, keys_of
from nlgauge.table import Row, Table
from nlgauge.text.batch import Batch
from nlgauge_papers import Sources, further, published_rows
from nlgauge_papers.deng2021.estimators import SETS, Case, Sets, correlations, first_references

KINDS = ("E", "D", "R")
ABOUT = [
    ("D.4", "qags-cnndm", "consistency", 0), ("D.4", "qags-xsum", "consistency", 0),
    ("D.1", "summeval", "consistency", 0),
    ("D.2", "summeval", "relevance", 1), ("D.3", "summeval", "relevance", 11), ("E.1", "yelp", "preservation", 0),
    ("F.1", "usr-persona", "engagingness", 0), ("F.2", "usr-persona", "groundedness", 0),
    ("F.3", "usr-topical", "engagingness", 0), ("F.4", "usr-topical", "groundedness", 0),
]  # fmt: skip
CHOOSING = {
    "consistency": "qags-cnndm",
    "relevance": "summeval",
    "preservation": "yelp",
    "engagingness": "usr-persona",
    "groundedness": "usr-persona",
}
HALVED = ("relevance", "preservation")  # one set only: even inputs choose, odd ones report
Heads = tuple[Head, Head]


def _sums(term: str) -> tuple[str, ...]:
    return f"sum({term})", f"distinct({term})", f"sqrt(sum({term}))", f"sqrt(distinct({term}))"


# What was tried: formulas (the paper's first) and heads.
TRIED = {
    "consistency": ("mean(y>x)", "geo(y>x)", "half(y>x)", "low(y>x)"),
    "relevance": ("mean(r>y) * mean(y>x)", "geo(r>y) * geo(y>x)", "mean(r>y) / mean(r>x) * mean(y>x)"),
    "preservation": ("harmonic(mean(y>x), mean(x>y))", "mean(y>x) * mean(x>y)", "min(mean(y>x), mean(x>y))"),
    "engagingness": _sums("y>[x,c]"), "groundedness": _sums("y>c"),
}  # fmt: skip
TRIED_HEADS = {
    "consistency": ("summarisation",), "relevance": ("summarisation",), "preservation": ("style", "summarisation"),
    "engagingness": ("response", "dialogue", "summarisation"),
    "groundedness": ("dialogue", "summarisation", "response"),
}  # fmt: skip


def cases(only: Iterable[str] = ()) -> list[Case]:
    found = []
    for table, name, aspect, references in ABOUT:
        halves = (None, 0, 1) if aspect in HALVED else (None,)
        found += [Case(table, name, aspect, "", references, half) for half in halves if not only or name in only]
    return found


class Read:
    """What aligners look at, read once for each pair of texts; any head is then applied at once."""

    def __init__(self, sets: Sets) -> None:
        self.sets = sets
        self.known: dict[ToAlign, tuple[Any, Any]] = {}

    def values(self, case: Case, expression: Expression, settings: Settings, heads: Heads) -> list[float]:
        """The value of an expression for every sample of a set, mean over its references; kept in the store."""
        batch = first_references(self.sets.get(case.set)[1], case.references)
        how = (
            f"align-expr(expr={expression.text!r}, align={heads[0].facts['kind']!r}, stop={settings.stop}, "
            f"unit={settings.unit!r})"
        )
        metric = metric_from_spec(how)
        signature = f"{metric}|heads:{hashed(heads)}|encoder:{fingerprint(DEFAULT)}|features:{len(NAMES)}"
        keys = keys_of(metric, batch)
        kept = self.sets.store.get(signature, keys)
        if any(key not in kept for key in keys):
            values = self._values(case, batch, expression, settings, heads)
            kept = {key: StoredScore(value) for key, value in zip(keys, values, strict=True)}
            self.sets.store.put(signature, kept)
        return [kept[key].value for key in keys]

    def _values(
        self, case: Case, batch: Batch, expression: Expression, settings: Settings, heads: Heads
    ) -> list[float]:
        samples, missing, _ = samples_of(batch, expression.needs)
        rows, owner = [], []
        for i, sample in enumerate(samples):
            for reference in sample["r"] if "r" in expression.fields else [None]:
                if i not in missing:
                    rows.append({t: pair_of(t, {**sample, "r": reference}) for t in expression.terms})
                    owner.append(i)
        pairs = list(dict.fromkeys(p for row in rows for p in row.values()))
        self._read(case, [p for p in pairs if p not in self.known])
        aligned = {}
        for p in pairs:
            spans, features = self.known[p]
            found = Alignment(p.a, spans, scores(heads[p.whole], features))
            aligned[p] = counted(found, settings.stop, settings.unit)
        each = [expression.value({t: aligned[p] for t, p in row.items()}) for row in rows]
        total, count = np.zeros(len(batch)), np.zeros(len(batch))
        np.add.at(total, owner, each)
        np.add.at(count, owner, 1)
        with np.errstate(invalid="ignore"):
            return (total / np.where(count > 0, count, np.nan)).tolist()  # type: ignore[no-any-return]

    def _read(self, case: Case, pairs: Sequence[ToAlign]) -> None:
        if pairs:
            self.sets.tell(f"{case.set}: {len(pairs)} pairs of texts for {case.aspect}")
        for i, spans, rows in Reader().read(pairs):
            self.known[pairs[i]] = spans, rows


def scored(read: Read, case: Case, expression: str, settings: Settings, heads: Heads, name: str, draws: int = 0) -> Row:
    """Six correlations of an expression under these heads."""
    key = case.set, case.references, name
    if key not in read.sets.scores:
        read.sets.scores[key] = read.values(case, parse(expression), settings, heads)
    return correlations(read.sets, replace(case, spec=name), draws, 0)


def shipped_heads(kind: str, aspect: str) -> Heads:
    return Trained(kind, HEADS[aspect]).heads()


def printed(case: Case) -> dict[str, float]:
    """The paper's E, D and R (the best of its encoders or training sets), global Pearson."""
    found: dict[str, float] = {}
    for row in published_rows("deng2021", case.table):
        kind = re.match(r"Ours \(([EDR])\)", row["metric"])
        of = {"CNN/DM": "qags-cnndm", "XSUM": "qags-xsum"}.get(row.get("set", ""), case.set)
        level = row.get("level", "sample"), row["coefficient"]
        if kind and of == case.set and level == ("sample", "pearson"):
            found[kind[1]] = max(found.get(kind[1], -1.0), float(row["printed"]))
    return found


def measured(read: Read, case: Case, kind: str, formula: str, draws: int) -> Row:
    """The correlations of `ctc` with this estimator."""
    said = [
        f"aspect='{case.aspect}'",
        *[f"align='{kind}'"] * (kind != "E"),
        *["formula='chosen'"] * (formula == "chosen"),
    ]
    name = f"ctc({', '.join(said)})"
    if kind == "E":
        return correlations(read.sets, replace(case, spec=name), draws, 0)
    how = form(case.aspect, kind, formula)
    return scored(read, case, how.formula, how.settings, shipped_heads(kind, case.aspect), name, draws)


def trained_table(read: Read, draws: int = 1000, only: Iterable[str] = ()) -> Table:
    """E, D and R on every set and aspect, with intervals, beside the paper's."""
    columns = (
        "table",
        "set",
        "aspect",
        "references",
        "metric",
        "pearson",
        "low",
        "high",
        "spearman",
        "kendall",
        "system pearson",
    )
    rows: list[Row] = []
    for case in cases(only):
        paper = printed(case) if case.half is None else {}
        for kind in KINDS:
            for formula in ("paper", "chosen"):
                if formula == "chosen" and kind != "E" and kind not in CHOSEN.get(case.aspect, {}):
                    continue
                found = measured(read, case, kind, formula, draws)
                beside = {
                    "paper": paper.get(kind),
                    "paper best": max(paper.values(), default=None),
                    "chosen": found["chosen"],
                }
                rows.append({**{k: found[k] for k in columns}, **beside})
    return Table(
        "Trained aligners (D, R) beside embedding matching (E): correlation with people (deng2021)",
        rows,
        method="pearson, spearman, kendall over all outputs, people among the systems kept; low, high: 95% "
        f"percentile bootstrap over inputs, {draws} draws, seed 0. paper: the same estimator in the paper "
        "(RoBERTa-large), best of its trainings.",
        notes=[
            "D and R learned from speeches and encyclopaedia text only; chosen: whether the aggregation was "
            "chosen on this set."
        ],
    )


def choice_table(read: Read, only: Iterable[str] = ()) -> Table:
    """Every head and aggregation that was tried, on the set that chooses."""
    rows: list[Row] = []
    for case in cases(only):
        chooses = CHOOSING[case.aspect] == case.set and case.half == (0 if case.aspect in HALVED else None)
        if not chooses or case.references == 1:
            continue
        for kind in ("D", "R"):
            rows += [
                _tried(read, case, kind, head, formula, stop)
                for head in TRIED_HEADS[case.aspect]
                for formula in TRIED[case.aspect]
                for stop in (False, True)
            ]
    return Table("Heads and aggregations of D and R on the set that chooses", rows, method="global Pearson.")


def _tried(read: Read, case: Case, kind: str, head: str, formula: str, stop: bool) -> Row:
    settings = Settings(unit="word", stop=stop)
    name = f"{kind} {head} {formula} {stop}"
    found = scored(read, case, formula, settings, Trained(kind, head).heads(), name)
    forms = {name: form(case.aspect, kind, name) for name in ("paper", "chosen")}
    shipped = [
        n for n, f in forms.items()
        if (formula, stop, head) == (f.formula, f.settings.stop, HEADS[case.aspect])
    ]  # fmt: skip
    return {"aspect": case.aspect, "on": found["set"], "align": kind, "head": head, "formula": formula,
            "without stop words": stop,
            "pearson": found["pearson"], "shipped": ", ".join(shipped)}  # fmt: skip


@further("deng2021", "trained", title="Trained aligners (D, R) beside E and the paper's, with intervals", sets=SETS)
def study(
    sources: Sources, only: Sequence[str] = (), draws: int = 1000, choose: bool = False, trainings: Sequence[str] = ()
) -> list[Table]:
    """E, D and R on every set, or `only` some. choose: what was tried; trainings: their folders, for Figure 7."""
    from nlgauge_papers.deng2021.training_steps import ablation, figure_7

    read = Read(Sets(sources.mirror, Store(sources.store), sources.tell))
    tables = [trained_table(read, draws, only)]
    if choose:
        tables.append(choice_table(read, only))
    if trainings:
        tables += [figure_7(read, [Path(t) for t in trainings], only)]
    if len(trainings) > 1:
        tables += [ablation(tables[-1])]
    return [table for table in tables if table.rows]
