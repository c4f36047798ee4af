"""Several trials of each input: pass@k and pass^k of systems, and test-retest reliability of judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from nlgauge.analyses import analysis
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.units import base_inputs, trial_counts, trials_text, unit_by_input
from nlgauge.errors import NeedsMissing
from nlgauge.number import row_interval
from nlgauge.options import option
from nlgauge.stats.agreement.two_by_two import Figure
from nlgauge.stats.estimation.trials import mean_share, pass_at_k, pass_hat_k, trial_agreement, trial_icc
from nlgauge.table import Row, Table, Title, grouped
from nlgauge.types import Array, Ints

HUMAN = "human"  # in the column `metric`
USUAL_K = (1, 2, 5, 10, 20, 50, 100)
LABELS = {
    "trial_agreement": "agreement of two trials",
    "trial_icc": "ICC(1) of the trials",
    "retest_agreement": "test-retest agreement",
    "retest_icc": "test-retest ICC(1)",
}


class _Values(NamedTuple):
    """Values of a judge, or human ratings of an aspect, in the order of the samples; `passed` is NaN if unknown."""

    metric: str
    aspect: str | None
    scores: Array
    passed: Array


@analysis(
    "trials",
    takes="dataset",
    question="How often does a system pass in repeated trials, and how reliable is a judge on repetition?",
)
def trials(
    choice: Choice, *, k: Sequence[int] | None = None, pass_from: float | None = None, level: float = 0.95
) -> Table:
    """Estimate pass@k and pass^k of each system, and the agreement of repeated trials of the same input.

    Parameters
    ----------
    k : sequence of int, optional
        Values of k for pass@k and pass^k. Default: 1, 2, 5, 10 … and the number of trials.
    pass_from : float, optional
        Lowest value that is a pass. Required if there are more than two values.
    level : float, default 0.95
        Level of the confidence intervals; the trials of an input form a cluster.

    Returns
    -------
    Table
        One row for each system and k (`pass@k`, `pass^k`), by the human label and by each metric with two values.
        Pooled over systems, `trial_agreement` is the probability of the same verdict in two trials of an input and
        `trial_icc` the reliability of a single trial. For trials with the same text, `retest_agreement` and
        `retest_icc` are the test-retest reliability of the judge.
    """
    data = choice.data
    included = ~data.samples["system"].is_in(sorted(data.human_systems) if not choice.keep_human else [])
    data = data.where(data.samples.filter(included)) if not included.all() else data
    counts = trial_counts(data.samples)
    if counts is None:
        raise NeedsMissing(
            f"{data.name}: no input has several trials; a column such as epoch, trial, run or seed must number them."
        )
    ks = sorted({*(x for x in USUAL_K if x <= counts[2]), counts[2]} if k is None else {int(x) for x in k})
    samples = data.samples
    base = base_inputs(samples)
    unit = _codes(samples["input"].replace_strict(unit_by_input(data)))
    of_input = _codes(samples["system"] + "\n" + base)
    same_text = None
    if "output" in samples.columns:
        same_text = _codes(samples["system"] + "\n" + base + "\n" + samples["output"].cast(pl.String).fill_null(""))
    rows: list[Row] = []
    without_verdicts = []
    for values in _all_values(choice, data, pass_from):
        if np.isfinite(values.passed).any():
            for system in data.systems:
                inside = (samples["system"] == system).to_numpy()
                rows += _pass_rows(values, system, of_input, unit, inside, ks, level)
        else:
            without_verdicts.append(values.metric)
        rows += _reliability_rows(values, "trial", of_input, unit, level)
        if same_text is not None and values.metric != HUMAN:
            repeated = _reliability_rows(values, "retest", same_text, unit, level)
            rows += repeated if any(row["n"] for row in repeated) else []
    if not rows:
        raise NeedsMissing(f"{data.name}: the trials have neither human ratings nor scores.")
    notes = [f"{trials_text(samples)}: the trials of an input are a cluster."]
    if without_verdicts:
        notes.append(
            f"no pass@k of {', '.join(without_verdicts)}: more than two values; set the lowest value that passes with "
            f"{option('pass_from')}."
        )
    if not any(row["measure"].startswith("retest") for row in rows):
        notes.append("The texts of the trials differ, so the agreement reflects both the outputs and the judge.")
    return Table(
        title=Title(data.name, "repeated trials"),
        rows=rows,
        shown=["metric", "system", "measure", "value", "n"],
        heads={"metric": "by", "n": "inputs"},
        cells={
            "metric": lambda r: f"{r['metric']}" + ("" if r["aspect"] in (None, HUMAN) else f" ({r['aspect']})"),
            "measure": lambda r: LABELS.get(r["measure"]) or str(r["measure"]),
            "value": row_interval,
        },
        method="pass@k: at least one of k trials passes (Chen et al. 2021); pass^k: all k pass (Yao et al. 2024); "
        f"unbiased estimates, means over inputs. {level:.0%} CI, clustered by input. ICC(1): one-way intraclass "
        "correlation, the reliability of a single trial.",
        answers=[_answer(part) for part in grouped(rows, "metric").values() if part],
        notes=[*notes, *dict.fromkeys(f"no confidence interval: {row['reason']}." for row in rows if row["reason"])],
        signature=f"k:{','.join(map(str, ks))}|level:{level:g}",
    )


def _codes(names: pl.Series) -> Ints:
    return np.unique(names.to_numpy().astype(str), return_inverse=True)[1].reshape(-1).astype(np.int64)


def _all_values(choice: Choice, data: Dataset, pass_from: float | None) -> list[_Values]:
    """Return the human labels of each aspect (majority of the annotators, ties unknown), then those of each metric."""
    every = []
    for aspect in choice.wanted if data.aspects else []:
        rated = data.ratings.filter(pl.col("aspect") == aspect).with_columns(pl.col("value").cast(pl.Float64))
        passed = _passed(rated["value"].to_numpy(), pass_from, lower=False)
        each = rated.select(*KEY, "value").with_columns(pl.Series("passed", passed, nan_to_null=True))
        each = each.group_by(KEY).agg(pl.col("value", "passed").mean())
        aligned = data.samples.select(KEY).join(each, on=KEY, how="left", maintain_order="left")
        scores, share = (aligned[c].fill_null(np.nan).to_numpy() for c in ("value", "passed"))
        every.append(_Values(HUMAN, aspect, scores, np.where(share == 0.5, np.nan, np.round(share))))
    aligned = data.samples.select(KEY).join(data.scores, on=KEY, how="left", maintain_order="left")
    for metric in choice.metrics or data.metrics:
        scores = aligned[metric].cast(pl.Float64).fill_null(np.nan).to_numpy()
        every.append(_Values(metric, None, scores, _passed(scores, pass_from, lower=metric in data.lower)))
    return every


def _passed(values: Array, pass_from: float | None, *, lower: bool) -> Array:
    """Return 1 for pass and 0 for fail: of two values the better one passes; NaN if unknown."""
    levels = np.unique(values[np.isfinite(values)])
    if pass_from is None and len(levels) != 2 and not (len(levels) == 1 and levels[0] in (0.0, 1.0)):
        return np.full(values.shape, np.nan)
    if pass_from is None:
        pass_from = float((levels[0] if lower else levels[1]) if len(levels) == 2 else not lower)
    passes = values <= pass_from if lower else values >= pass_from
    return np.where(np.isfinite(values), passes, np.nan)


def _row(values: _Values, system: str | None, measure: str, figure: Figure, outputs: int) -> Row:
    return {
        "metric": values.metric,
        "aspect": values.aspect,
        "system": system,
        "measure": measure,
        "outputs": outputs,
        **figure.columns,
    }


class _Counts(NamedTuple):
    """Trials and passes of each input, and its unit."""

    trials: Array
    passes: Array
    unit: Ints


def _counted(passed: Array, of_input: Ints, unit: Ints) -> _Counts:
    known = np.isfinite(passed)
    code = np.unique(of_input[known], return_inverse=True)[1].reshape(-1)
    units = np.zeros(int(code.max(initial=-1)) + 1, np.int64)
    units[code] = unit[known]
    return _Counts(np.bincount(code).astype(np.float64), np.bincount(code, passed[known]).astype(np.float64), units)


def _pass_rows(
    values: _Values, system: str, of_input: Ints, unit: Ints, inside: np.ndarray, ks: Sequence[int], level: float
) -> list[Row]:
    counts = _counted(np.where(inside, values.passed, np.nan), of_input, unit)
    outputs = int(counts.trials.sum())
    if not outputs:
        return []
    rows = []
    for name, estimate, sizes in (("pass@", pass_at_k, ks), ("pass^", pass_hat_k, [k for k in ks if k > 1])):
        for k in sizes:  # pass^1 is pass@1
            figure = mean_share(estimate(counts.trials, counts.passes, k), counts.unit, outputs, level=level)
            rows.append(_row(values, system, f"{name}{k}", figure, outputs))
    return rows


def _reliability_rows(values: _Values, word: str, of_input: Ints, unit: Ints, level: float) -> list[Row]:
    """Return the rows of agreement and ICC of trials; `of_input` numbers the outputs that are trials of an input."""
    rows = []
    if np.isfinite(values.passed).any():
        counts = _counted(values.passed, of_input, unit)
        agreed = mean_share(
            trial_agreement(counts.trials, counts.passes), counts.unit, float(counts.trials.sum()), level=level
        )
        rows.append(_row(values, None, f"{word}_agreement", agreed, int(counts.trials.sum())))
    icc = trial_icc(values.scores, of_input, unit, level=level)
    return [*rows, _row(values, None, f"{word}_icc", icc, int(np.isfinite(values.scores).sum()))]


def _answer(rows: list[Row]) -> str:
    """Summarize a judge: pass@1 and pass^k of each system at the largest k, and the reliability of a trial."""
    largest = max((int(r["measure"][5:]) for r in rows if r["system"]), default=0)
    summary = ("pass@1", f"pass^{largest}", "retest_icc", "trial_icc")
    parts = [
        f"{r['system'] + ' ' if r['system'] else ''}{LABELS.get(r['measure'], r['measure'])} {row_interval(r)}"
        for r in rows
        if r["measure"] in summary and np.isfinite(r["value"])
    ]
    return f"{rows[0]['metric']}: {'; '.join(parts[:8]) or 'too few trials with a value'}."
