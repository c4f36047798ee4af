"""Trained aligners D and R compared with E and with the paper: `nlgauge reproduce deng2021 trained`.

D and R are the heads inside the package, trained on text without labels (docs/aligners.md). None of the sets below was
used in training. Aggregation and head are selected as for E: on QAGS-CNN/DM for consistency, on Persona-Chat for
dialogue, on even-numbered inputs of SummEval for relevance and of Yelp for preservation; `--set choose=True` shows the
selection.

`--set "trainings=['DIR']"` adds Figure 7 for a user's training: held-out accuracy and human correlation at each
checkpoint. With two, for trainings with other targets (`nlgauge train aligner --targets lead`), it is the ablation of
Appendix A.1. Scores are cached: a second run reads no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from nlgauge import Table
from nlgauge.metrics import metric_from_spec
from nlgauge.plugins import Row
from nlgauge_papers import Sources, further, published_rows
from nlgauge_papers.deng2021.estimators import SETS, Case, Sets, correlations
from nlgauge_papers.deng2021.training_steps import ablation, figure_7

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


def _sums(term: str) -> tuple[str, ...]:
    return f"sum({term})", f"distinct({term})", f"sqrt(sum({term}))", f"sqrt(distinct({term}))"


# What was tried: formulas (the paper's first) and heads.
TRIED = {
    "consistency": ("mean(y>x)", "geo(y>x)", "half(y>x)", "low(y>x)"),
    "relevance": ("mean(r>y) * mean(y>x)", "geo(r>y) * geo(y>x)", "mean(r>y) / mean(r>x) * mean(y>x)"),
    "preservation": ("harmonic(mean(y>x), mean(x>y))", "mean(y>x) * mean(x>y)", "min(mean(y>x), mean(x>y))"),
    "engagingness": _sums("y>[x,c]"),
    "groundedness": _sums("y>c"),
}
TRIED_HEADS = {
    "consistency": ("summarization",), "relevance": ("summarization",), "preservation": ("style", "summarization"),
    "engagingness": ("response", "dialogue", "summarization"),
    "groundedness": ("dialogue", "summarization", "response"),
}  # fmt: skip


def cases(only: Iterable[str] = ()) -> list[Case]:
    """Return the numbers that are computed, of all sets or of `only` some; aspects with one set also by halves."""
    results = []
    for table, name, aspect, references in ABOUT:
        halves = (None, 0, 1) if aspect in HALVED else (None,)
        results += [Case(table, name, aspect, "", references, half) for half in halves if not only or name in only]
    return results


class Form(NamedTuple):
    """What an aspect makes of the scores of D or R: formula, whether stop words are left out, and whose scores."""

    formula: str
    stop: bool
    head: str


def form(aspect: str, kind: str, formula: str = "paper") -> Form:
    """Return the form that `ctc` has for an aspect: the paper's, or the one that was chosen."""
    metric: Any = metric_from_spec(ctc_spec(aspect, kind, formula))
    return Form(metric.expression().text, metric.settings().stop, metric.task())


def ctc_spec(aspect: str, kind: str, formula: str = "paper") -> str:
    """Return the metric `ctc` of an aspect with an estimator (E, D or R)."""
    options = [
        f"aspect='{aspect}'",
        *[f"align='{kind}'"] * (kind != "E"),
        *["formula='chosen'"] * (formula == "chosen"),
    ]
    return f"ctc({', '.join(options)})"


def printed(case: Case) -> dict[str, float]:
    """Return the paper's global Pearson correlations of E, D and R (the best of its encoders or training sets)."""
    results: dict[str, float] = {}
    for row in published_rows("deng2021", case.table):
        kind = re.match(r"Ours \(([EDR])\)", row["metric"])
        of = {"CNN/DM": "qags-cnndm", "XSUM": "qags-xsum"}.get(row.get("set", ""), case.set)
        level = row.get("level", "sample"), row["coefficient"]
        if kind and of == case.set and level == ("sample", "pearson"):
            results[kind[1]] = max(results.get(kind[1], -1.0), float(row["printed"]))
    return results


def trained_table(sets: Sets, draws: int = 1000, only: Iterable[str] = ()) -> Table:
    """Compare E, D and R on every set and aspect, with intervals, next to the paper's values."""
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
                if formula == "chosen" and kind != "E" and form(case.aspect, kind) == form(case.aspect, kind, formula):
                    continue  # nothing else was chosen
                result = correlations(sets, replace(case, spec=ctc_spec(case.aspect, kind, formula)), draws, 0)
                paper_values = {
                    "paper": paper.get(kind),
                    "paper best": max(paper.values(), default=None),
                    "chosen": result["chosen"],
                }
                rows.append({**{k: result[k] for k in columns}, **paper_values})
    return Table(
        "Trained aligners (D, R) and embedding matching (E): correlation with human ratings (deng2021)",
        rows,
        method="pearson, spearman, kendall over all outputs, human-written outputs included; low, high: 95% "
        f"percentile bootstrap over inputs, {draws} draws, seed 0. paper: the same estimator in the paper "
        "(RoBERTa-large), best of its trainings.",
        notes=[
            "D and R learned from speeches and encyclopaedia text only; chosen: whether the aggregation was "
            "chosen on this set."
        ],
    )


def choice_table(sets: Sets, only: Iterable[str] = ()) -> Table:
    """Return every head and aggregation that was tried, on the selection set."""
    rows: list[Row] = []
    for case in cases(only):
        chooses = CHOOSING[case.aspect] == case.set and case.half == (0 if case.aspect in HALVED else None)
        if not chooses or case.references == 1:
            continue
        for kind in ("D", "R"):
            rows += [
                _tried(sets, case, kind, head, formula, stop)
                for head in TRIED_HEADS[case.aspect]
                for formula in TRIED[case.aspect]
                for stop in (False, True)
            ]
    return Table("Heads and aggregations of D and R on the set that chooses", rows, method="global Pearson.")


def _tried(sets: Sets, case: Case, kind: str, head: str, formula: str, stop: bool) -> Row:
    spec = f"align-expr(expr={formula!r}, align={kind!r}, weights={head!r}, stop={stop}, unit='word')"
    result = correlations(sets, replace(case, spec=spec), 0, 0)
    shipped = [name for name in ("paper", "chosen") if form(case.aspect, kind, name) == Form(formula, stop, head)]
    return {
        "aspect": case.aspect,
        "on": result["set"],
        "align": kind,
        "head": head,
        "formula": formula,
        "without stop words": stop,
        "pearson": result["pearson"],
        "shipped": ", ".join(shipped),
    }


@further("deng2021", "trained", title="Trained aligners (D, R), E and the paper, with confidence intervals", sets=SETS)
def study(
    sources: Sources, only: Sequence[str] = (), draws: int = 1000, choose: bool = False, trainings: Sequence[str] = ()
) -> list[Table]:
    """Evaluate E, D and R on every set, or `only` some. choose: what was tried; trainings: their folders, for Figure
    7.
    """
    sets = Sets(sources)
    tables = [trained_table(sets, draws, only)]
    if choose:
        tables.append(choice_table(sets, only))
    if trainings:
        tables += [figure_7(sets, [Path(t) for t in trainings], only)]
    if len(trainings) > 1:
        tables += [ablation(tables[-1])]
    return [table for table in tables if table.rows]
