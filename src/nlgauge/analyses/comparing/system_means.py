"""System means by human ratings and by each metric, with significance tests.

Means, spread and significance (novikova2017, Tables 2 and 8).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import counted
from nlgauge.analyses.parts import panels_of
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import Dataset
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import number, starred
from nlgauge.stats.tests.corrections import holm
from nlgauge.stats.tests.two_samples import PAIRED, TEST_NAMES, MeanTest, mean_test
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array

MAX_COLUMNS = 12  # parts and systems next to each other; with more the table is a list


@analysis(
    "system-means",
    trials="mean",
    paper="novikova2017",
    takes="groups",
    question="Which system is better, by human ratings and by each metric?",
)
def system_means(
    choice: Choice, *, test: MeanTest = "t", draws: int = 1000, level: float = 0.05, progress: Progress | None = None
) -> Table:
    """Compare system means, by human ratings and by each metric.

    With two systems there is one test, and a star marks both if they differ significantly. With more systems, each one
    is tested against the best system by the same rating or metric.

    Parameters
    ----------
    test : {'t', 'student', 'mann-whitney', 'paired-t', 'wilcoxon', 'permutation'}, default 't'
        Test of two systems: `t` (Welch), `student`, `mann-whitney`, or a test that pairs the outputs of each
        input (`paired-t`, `wilcoxon`, `permutation`).
    draws : int, default 1000
        Number of permutations of the test.

    Returns
    -------
    Table
        One row per part, quantity (aspect or metric) and system: mean, standard deviation, n, whether it is
        the best, and p that it differs from the best one (Holm's correction over the systems of a quantity).

    References
    ----------
    Novikova et al. (2017), Tables 2 and 8.
    """
    data, seed = choice.data, choice.seed
    parts = choice.parts
    wanted = choice.wanted
    rows: list[Row] = []

    def against(one: Array, best: Array) -> float:
        return mean_test(one, best, test, draws=draws, rng=np.random.default_rng(np.random.SeedSequence(seed)))

    for part in counted(parts, progress):
        for quantity, kind, panel, values in _quantities(part, wanted):
            rows += [
                {**part.group, "quantity": quantity, "kind": kind, **row, "significant": bool(row["p"] < level)}
                for row in _rows(panel, values, quantity in data.lower, against)
            ]
    if not rows:
        raise NeedsMissing("there are no human ratings in any part.", code="no_ratings")
    columns = choice.columns
    return Table(
        title=Title(data.name, "system means" + (f" by {', '.join(columns)}" if columns else "")),
        rows=rows,
        layout=Layout("quantity", (*columns, "system"), "value", line=lambda q: f"{q} ↓" if q in data.lower else q)
        if len({tuple(r[c] for c in (*columns, "system")) for r in rows}) <= MAX_COLUMNS
        else None,
        heads={c: c for c in columns} | {"value": "mean", "sd": "SD"},
        cells={"value": lambda row: f"{starred(row['value'], row['p'], level)} ({number(row['sd'], 2)})"},
        shown=["quantity", *columns, "system", "value", "sd", "n", "best", "p", "significant"],
        method=_method(rows, test, draws, level, seed),
        notes=_notes(data, choice.keep_human, rows),
        signature=f"by:{','.join(columns) or 'none'}|test:{test}|aggregate:{choice.aggregate}|seed:{seed}",
    )


def _quantities(part: Choice, aspects: Sequence[str]) -> Iterator[tuple[str, str, Panel, Array]]:
    """Yield human ratings, then metrics: name, kind, panel, and the systems' scores (N × M)."""
    panel = None
    for aspect in aspects:
        for _, panel in panels_of([part], aspect, []):
            yield aspect, "human", panel, panel.human
    if panel is not None:
        for metric, values in panel.metrics.items():
            yield metric, "metric", panel, values


def _rows(panel: Panel, values: Array, lower: bool, against: Callable[[Array, Array], float]) -> list[Row]:
    """Return a row per system: mean, SD, and p of the difference from the best (with two systems, for both)."""
    there = [(panel.systems[i], values[i]) for i in panel.listed if np.isfinite(values[i]).any()]
    if not there:
        return []
    means = [float(np.nanmean(v)) for _, v in there]
    best = (min if lower else max)(range(len(means)), key=means.__getitem__)
    p = holm([math.nan if k == best else against(v, there[best][1]) for k, (_, v) in enumerate(there)]).tolist()
    if len(there) == 2:
        p[best] = p[1 - best]
    return [
        {
            "system": system,
            "value": means[k],
            "sd": float(np.nanstd(v, ddof=1)) if n > 1 else math.nan,
            "n": n,
            "best": k == best,
            "p": p[k],
        }
        for k, (system, v) in enumerate(there)
        for n in [int(np.isfinite(v).sum())]
    ]


def _method(rows: list[Row], test: MeanTest, draws: int, level: float, seed: int) -> str:
    two = all(not math.isnan(r["p"]) for r in rows if r["best"])
    what = (
        "* the two systems differ significantly"
        if two
        else "* significantly different from the best system of the line"
    )
    more = "" if two else ", Holm's correction over the systems of a line"
    sample = (
        "inputs are assumed to be independent"
        if test in PAIRED
        else "outputs are assumed to be independent, also those of one input"
    )
    drawn = f", {draws} draws, seed {seed}" if test == "permutation" else ""
    return (
        f"Mean (standard deviation) over outputs. {what}, p < {level:g}: {TEST_NAMES[test]}, "
        f"two-sided{drawn}{more}; {sample}."
    )


def _notes(data: Dataset, keep_human: bool, rows: list[Row]) -> list[str]:
    left_out = [s for s in data.systems if s in data.human_systems] if not keep_human else []
    notes = [f"human-written outputs are excluded: {', '.join(left_out)}."] if left_out else []
    sizes = {r["n"] for r in rows}
    notes.append(
        f"outputs of a system: {min(sizes)}–{max(sizes)}."
        if len(sizes) > 1
        else f"{sizes.pop()} outputs of each system."
    )
    if data.lower & {r["quantity"] for r in rows}:
        notes.append("↓ lower is better.")
    return notes
