"""Correlation of metrics with human ratings on each part of the data (Novikova et al. 2017, Tables 9-11 and 14)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, counted, flipped_words, reference
from nlgauge.analyses.parts import comparable, halves_of, panels_of
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import Dataset
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import starred
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.tests.corrections import CORRECTION_WORDS, CORRECTIONS
from nlgauge.stats.tests.split_panels import (
    Halves,
    Outputs,
    check_words,
    checked,
    correlations,
    differ,
    difference_words,
    single,
    star_words,
)
from nlgauge.table import Layout, Row, Table, Title

MAX_COLUMNS = 12  # with more parts, the table has one row per metric and part


@analysis(
    "split",
    trials="mean",
    paper="novikova2017",
    takes="groups",
    question="How well does each metric agree with the human ratings on each part of the data?",
)
def split(
    choice: Choice,
    *,
    measure: Named = "global/spearman",
    correction: Literal["holm", "bh", "none"] = "holm",
    draws: int = 0,
    level: float = 0.05,
    outputs: Outputs = "clustered",
    progress: Progress | None = None,
) -> Table:
    """Compute the correlation of each metric with the human ratings on each part of the data, and compare the parts.

    Parts are the combinations of values of the columns `by`. Only parts that differ in the last column are
    compared: by=["dataset", "system"] compares systems on one data set.

    Parameters
    ----------
    measure : str or Measure, default 'global/spearman'
        One correlation over outputs: global/pearson, global/spearman or global/kendall.
    correction : {'holm', 'bh', 'none'}, default 'holm'
        Correction of the comparisons for multiple testing: Holm, Benjamini and Hochberg (`bh`), or none.
    draws : int, default 0
        Number of permutations that check each comparison; 0 for no check.

    Returns
    -------
    Table
        One row per metric, aspect and part: the correlation, n, p of the test that it is zero, and whether it is
        significantly stronger (in absolute value) than in every part that it is compared with. In the printed table *
        marks a significant correlation and † a significantly stronger one.

    References
    ----------
    Novikova et al. (2017), Tables 9–11 and 14.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = split(ng.example(), by="system", aspects=["constructed_quality"])  # doctest: +SKIP
    """
    data, seed = choice.data, choice.seed
    chosen = single(measure, "split")
    columns, parts = choice.columns, choice.parts
    wanted = choice.wanted
    rows: list[Row] = []
    lost: list[str] = []
    for aspect in counted(wanted, progress):
        rows += _aspect(parts, aspect, chosen, draws, outputs, lost)
    if not rows:
        raise NeedsMissing("no part has ratings and scores.", code="no_scores_of_rated")
    tests = _decide(rows, correction, level)

    def label(metric: str) -> str:
        return f"{metric} ↓" if metric in data.lower else metric

    return Table(
        title=Title(data.name, f"{chosen} with {reference(data)}" + (f" by {', '.join(columns)}" if columns else "")),
        rows=rows,
        layout=Layout(
            "metric" if len(wanted) == 1 else ("aspect", "metric"),
            "part",
            "value",
            line=lambda key: label(key) if isinstance(key, str) else f"{key[0]}: {label(key[1])}",
        )
        if len({r["part"] for r in rows}) <= MAX_COLUMNS
        else None,
        cells={"value": lambda row: marked(row, level)},
        shown=["metric", "aspect", "part", "value", "n", "p", "significant", "stronger", "p_difference"],
        definitions={str(chosen): chosen.definition},
        method=_method(tests, correction, level, draws, outputs, seed),
        notes=_notes(rows, lost, data),
        signature=f"by:{','.join(columns) or 'none'}|measure:{chosen}"
        f"|aggregate:{choice.aggregate}|correction:{correction}|draws:{draws}|seed:{seed}",
    )


def _aspect(
    parts: Sequence[Choice], aspect: str, measure: Measure, draws: int, outputs: Outputs, lost: list[str]
) -> list[Row]:
    panels, seed = list(panels_of(parts, aspect, lost)), parts[0].seed
    by_part = [correlations(panel.oriented(), panel.human, measure, outputs, seed) for _, panel in panels]
    rows: dict[tuple[int, str], Row] = {
        (place, metric): {
            **part.group,
            "metric": metric,
            "aspect": aspect,
            "part": part.name,
            "measure": str(measure),
            "value": one.value,
            "n": one.n,
            "p": one.p,
            "reason": one.reason,
            "against": {},
        }
        for place, (part, panel) in enumerate(panels)
        for metric, one in zip(panel.metrics, by_part[place], strict=True)
    }
    for i, j in comparable([part for part, _ in panels]) if panels and panels[0][0].group else []:
        (first, a), (second, b) = panels[i], panels[j]
        # One seed for all: a row does not depend on the other parts and aspects, nor on their order.
        rng = np.random.default_rng(np.random.SeedSequence(seed))
        checks = checked(_flat(a, b), (by_part[i], by_part[j]), measure, draws, rng).tolist()
        tests = differ(by_part[i], by_part[j], measure, halves_of(a, b), outputs)
        for metric, *tested in zip(a.metrics, tests, checks, strict=True):
            rows[i, metric]["against"][second.name] = tested
            rows[j, metric]["against"][first.name] = tested
    return list(rows.values())


def _flat(a: Panel, b: Panel) -> Halves:
    """Put all outputs of two parts in one row: the permutation check assumes independent outputs."""
    scores = np.concatenate([panel.oriented().reshape(len(panel.metrics), 1, -1) for panel in (a, b)], axis=2)
    human = np.concatenate([a.human.ravel(), b.human.ravel()])[None]
    first = (np.arange(human.size) < a.human.size)[None]
    return Halves(scores, human, first, ~first)


def _decide(rows: list[Row], correction: str, level: float) -> int:
    """Correct the p-values of all comparisons together and mark the rows; return the number of comparisons."""
    tests: dict[tuple[Any, ...], float] = {}
    for row in rows:
        for other, (p, _) in row["against"].items():
            tests[_key(row, other)] = p
    adjusted = dict(zip(tests, CORRECTIONS[correction](list(tests.values())).tolist(), strict=True)) if tests else {}
    size = {(r["metric"], r["aspect"], r["part"]): abs(r["value"]) for r in rows}
    for row in rows:
        against = row.pop("against")
        p = [adjusted[_key(row, other)] for other in against]
        raw = [v[0] for v in against.values()]
        checks = [v[1] for v in against.values()]
        above = all(abs(row["value"]) > size[row["metric"], row["aspect"], other] for other in against)
        row["significant"] = bool(row["p"] < level)
        row["stronger"] = bool(p) and above and bool(np.all(np.asarray(p) < level))
        row["p_raw"], row["p_difference"] = _largest(raw), _largest(p)
        row["p_check"] = _largest(checks)
    return len(tests)


def marked(row: Row, level: float) -> str:
    """Return the cell: `-.21*†` is significant, and significantly stronger than in the other parts."""
    return starred(row["value"], row["p"], level) + ("†" if row["stronger"] else "")


def _key(row: Row, other: str) -> tuple[Any, ...]:
    return row["metric"], row["aspect"], frozenset((row["part"], other))


def _largest(values: list[float]) -> float:
    """Return the largest p-value: a part is stronger than all others only if every p is small."""
    return max(values) if values and not np.isnan(values).any() else float("nan")


def _method(tests: int, correction: str, level: float, draws: int, outputs: Outputs, seed: int) -> str:
    words = star_words(level, outputs, seed) + "."
    if not tests:
        return words
    return (
        f"{words} † significantly stronger (in absolute value) than in every part it is compared with: "
        f"{difference_words(outputs)}; {CORRECTION_WORDS[correction]} over {tests} tests.{check_words(draws, seed)}"
    )


def _notes(rows: list[Row], lost: list[str], data: Dataset) -> list[str]:
    notes = [f"excluded: {'; '.join(dict.fromkeys(lost))}."] if lost else []
    reasons = dict.fromkeys(f"{r['metric']}, {r['part']}: {r['reason']}" for r in rows if r["reason"])
    if reasons:
        notes.append(f"{len(reasons)} cells have no value, such as {next(iter(reasons))}.")
    sizes = {r["n"] for r in rows}
    notes.append(
        f"n = {min(sizes)}–{max(sizes)} outputs per cell." if len(sizes) > 1 else f"n = {sizes.pop()} per cell."
    )
    return [*notes, *flipped_words(data.lower & {r["metric"] for r in rows})]
