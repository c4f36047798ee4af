"""Prediction-powered estimates of the mean human rating or pass rate from a small labeled sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from nlgauge import __version__
from nlgauge.analyses import analysis
from nlgauge.analyses.estimates._partly_labeled import (
    TOGETHER,
    Rows,
    check_words,
    design_notes,
    predictor,
    representative,
    rows_of,
    value_text,
)
from nlgauge.analyses.estimates.system_labels import MARGIN, SystemLabels, audit_systems, labels_needed, refused_rows
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing, NlgaugeError, RowNote
from nlgauge.number import count, number
from nlgauge.options import option
from nlgauge.stats.estimation.means import MeanEstimate, Method, PartlyLabeled, mean_estimate
from nlgauge.stats.estimation.rogan_gladen import rogan_gladen
from nlgauge.stats.estimation.systems import PROBE_LABELS, Systems, compare_systems, joint_means, pool_means
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array

EstimateMethod = Literal["ppi++", "ppi", "labels"]
EstimatePart = Literal["means", "differences", "ranks"]
LINE_COLUMNS = ("measure", "metric")
ALL = "all"  # in the column `system` of the rows over all systems
MAX_SENTENCES = 4  # systems whose estimate is also a sentence, if there is no estimate over all
Part = tuple[Rows, Array | None]  # rows of a system, and the judge's score of each
LABELS = {
    "labels_only": "labels only",
    "ppi": "PPI",
    "ppi_plus": "PPI++",
    "rogan_gladen": "corrected for error rates",
    "judge_only": "judge only (biased)",
    "difference": "difference",
    "rank": "rank",
}
MIN_VERDICTS = 10  # labels of each verdict for its error rates: with five the coverage was .91 (bench/estimates.py)


@analysis(
    "estimate",
    question="What mean human rating or pass rate do few labels and a judge's scores imply for all outputs?",
    takes="dataset",
    also=("estimate(part='differences')", "estimate(part='ranks')"),
    declared=True,
)
def estimate(
    choice: Choice,
    *,
    aspect: str | None = None,
    method: EstimateMethod = "ppi++",
    part: EstimatePart = "means",
    human_pass_from: float | None = None,
    probability: str | None = None,
    strata: str | None = None,
    margin: float | None = None,
    level: float = 0.95,
) -> Table:
    """Estimate the mean human rating or pass rate of each system from a small labeled sample and a judge's scores.

    The method is prediction-powered inference. `metrics` selects the judge. Several judges are combined into one
    prediction.

    Parameters
    ----------
    method : {'ppi++', 'ppi', 'labels'}, default 'ppi++'
        Estimator for part=differences and part=ranks: `ppi++` or `ppi` (prediction-powered inference), or `labels`
        (human labels only).
    part : {'means', 'differences', 'ranks'}, default 'means'
        What to estimate: `means` of the systems, their `differences`, or their `ranks`. Intervals of differences and
        ranks are simultaneous.
    margin : float, optional
        Equivalence margin for the difference of the judge's mean error between two systems, in units of the labels;
        by default 5% of the range of the human scale.

    Returns
    -------
    Table
        For part=means one row per system and estimator: from labels only, with the judge (PPI, PPI++, and corrected
        for error rates), and from the judge only, which is biased. `low_alone` and `high_alone` are one-sided limits,
        to be compared with a threshold. NaN with a `reason` if there are too few labels.

    Notes
    -----
    Prediction-powered inference: mean(λ f) over all outputs + mean(y − λ f) over the labeled ones, with the λ that
    gives the smallest variance (PPI++; PPI has λ = 1). The correction for error rates is that of Rogan and Gladen
    (1978). See Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient Prediction-Powered Inference.

    Examples
    --------
    >>> import nlgauge as ng
    >>> len(ng.estimate(ng.example(), metrics="unigram_f1", part="ranks"))
    8

    $ nlgauge estimate log.csv --labels labels.csv
    """
    data = choice.data
    rows = rows_of(
        data,
        data.aspect(aspect),
        choice.metrics,
        cut=human_pass_from,
        probability=probability,
        strata=strata,
        keep_human=choice.keep_human,
    )
    counts = rows.label_counts()
    judge, score, notes = predictor(rows)
    if score is None and method != "labels":
        raise NeedsMissing(
            f"there are no scores of a judge; name their columns with {option('metrics')}, or use "
            f"{option('method', 'labels')}.",
            code="no_scores",
        )
    if margin is not None and margin <= 0:
        raise NlgaugeError(f"{option('margin')} must be above 0; got {margin:g}.")
    inside = ~np.isin(rows.system, counts.left_out)
    if not inside.any():
        raise NeedsMissing(
            f"{counts.gap_text()}; label at least {PROBE_LABELS} outputs of a system.",
            aspect=rows.aspect,
            code="too_few_labels",
        )
    covered, own = rows.of(inside), None if score is None else score[inside]
    table = (
        _means(covered, counts, judge, own, level, margin)
        if part == "means"
        else _systems(covered, judge, own, method, part, level, choice.seed)
    )
    if counts.left_out and part != "means":
        table.notes.append(f"excluded: {counts.gap_text()}.")
    tests = representative(covered)
    if tests:
        words, passed = check_words(tests)
        (table.notes if passed else table.headlines).append(words)
    table.facts["representative"] = {name: round(p, 6) for name, p in tests}
    table.facts["labels"] = dict(zip(counts.names, counts.labels, strict=True))
    table.notes += [*notes, *rows.notes, *design_notes(rows, counts)]
    table.signature = f"nlgauge:{__version__}|aspect:{rows.aspect}|rows:{len(rows.labels)}|level:{number(level, 2)}"
    return table


def _means(
    rows: Rows, counts: SystemLabels, judge: str, score: Array | None, level: float, margin: float | None
) -> Table:
    """Estimate the means of the systems that have labels, and over all systems if none is without labels."""
    several = len(counts.names) > 1
    parts = {
        name: (part, None if score is None else score[inside])
        for name in counts.covered
        if (part := rows.of(inside := rows.system == name)).labeled.any()
    }
    estimates: list[Row] = []
    if several and not counts.left_out:
        own_labels = len(parts) == len(counts.names) and not any(part.lacking() for part, _ in parts.values())
        designed = rows.probability is not None or rows.strata is not None
        if own_labels and not designed and not counts.even:
            estimates += _pooled_rows(rows, list(parts.values()), judge, score, level)
        else:
            estimates += _mean_rows(rows, ALL, judge, score, level)
    for name, (part, own) in parts.items():
        estimates += _mean_rows(part, name if several else ALL, judge, own, level)
    best = next((r for r in estimates if r["measure"] == "ppi_plus"), estimates[0])
    answers = _sentences(rows, estimates, best) if not counts.left_out else []
    margin = margin or MARGIN * (1.0 if rows.share else max(rows.levels) - min(rows.levels))
    if counts.left_out:
        size = dict(zip(counts.names, counts.rows, strict=True))
        needed = {name: labels_needed(estimates, size[name], margin) for name in counts.left_out}
        whose = "it" if len(needed) == 1 else "each"
        answers.append(
            f"No estimate over all outputs: {counts.gap_text()}. Label about {max(needed.values()):,} outputs of "
            f"{whose} (for a {level:.0%} CI of about ±{margin:.2g})."
        )
        named = [r for r in estimates if r["measure"] == best["measure"] and r["system"] in parts]
        answers += [_sentences(rows, estimates, r)[0] for r in named[:MAX_SENTENCES]]
        estimates += refused_rows(counts, rows.aspect, judge, needed)
    audit, transfers = (
        ([], {})
        if not counts.unequal or score is None
        else audit_systems(
            {name: part.sample(own) for name, (part, own) in parts.items() if not part.lacking()}, counts, margin
        )
    )
    return Table(
        title=Title(rows.name, f"estimated {'human pass rate' if rows.share else 'mean human rating'}, {rows.aspect}"),
        rows=estimates,
        layout=Layout("system", LINE_COLUMNS, "value", heads={(r["measure"], r["metric"]): _line(r) for r in estimates})
        if several
        else Layout(LINE_COLUMNS, "system", "value", line=lambda key: _line(dict(zip(LINE_COLUMNS, key, strict=True)))),
        cells={"value": lambda row: value_text(row, rows.share)},
        answers=[*answers, *audit],
        facts={"share": rows.share, "transfer": transfers},
        method=f"{level:.0%} confidence intervals for outputs from the same population: "
        + (
            "score intervals with half a pass and half a fail added that the judge gets wrong (exact for labels only, "
            "drawn at random)."
            if rows.share
            else "as of a proportion between the lowest and the highest rating, with the effective sample size."
        ),
        notes=_missing(estimates),
    )


def _pooled_rows(rows: Rows, parts: Sequence[Part], judge: str, score: Array | None, level: float) -> list[Row]:
    """Pool systems with different shares of labels: each is estimated from its own labels, weighted by its outputs."""
    weights = np.array([len(part.labels) for part, _ in parts]) / len(rows.labels)
    units = [part.unit for part, _ in parts]
    methods: dict[str, Method] = {"labels_only": "labels"}
    if score is not None and not rows.labeled.all():
        methods["ppi_plus"] = "ppi++"
        if len(rows.scores) == 1 and _scale(rows, score):
            methods["ppi"] = "ppi"
    made: list[Row] = []
    plain_se = np.nan
    for measure, method in methods.items():
        samples = [part.sample(None if method == "labels" else own) for part, own in parts]
        each, covariance = joint_means(samples, units, method, level)
        sd = np.sqrt(np.diag(covariance))
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = np.nan_to_num(covariance / np.outer(sd, sd))
        np.fill_diagonal(correlation, 1.0)
        pooled = pool_means(each, weights, correlation)
        plain_se = pooled.se if method == "labels" else plain_se
        row = _row(rows, ALL, "human" if method == "labels" else judge, measure, pooled, "")
        row["worth"] = row["n"] * float((plain_se / pooled.se) ** 2) if pooled.se > 0 else np.nan
        if method != "ppi":
            one_sided = [mean_estimate(sample, method, level, equal_tails=True) for sample in samples]
            ends = pool_means(one_sided, weights, correlation)
            row |= {"low_alone": float(ends.low), "high_alone": float(ends.high)}
        made.append(row)
    if "ppi_plus" in methods:
        made += [
            _row(rows, ALL, name, "judge_only", mean_estimate(rows.sample(own), "judge", level), "")
            for name, own in rows.scores.items()
            if _scale(rows, own)
        ]
    return made


def _missing(estimates: list[Row]) -> list[str]:
    """List estimates without a value or an interval, one note per reason."""
    where: dict[tuple[str, str], list[str]] = {}
    for row in estimates:
        if row["reason"]:
            what = "no confidence interval" if np.isfinite(row["value"]) else "not available"
            where.setdefault((what, row["reason"]), []).append(row["system"])
    several = len({row["system"] for row in estimates}) > 1
    named = {key: f" of {', '.join(dict.fromkeys(systems))}" if several else "" for key, systems in where.items()}
    return [RowNote(f"{what}{whose}: {why}.") for (what, why), whose in named.items()]


def _line(row: Row) -> str:
    return LABELS[row["measure"]] + (f" ({row['metric']})" if row["measure"] != "labels_only" else "")


def _mean_rows(rows: Rows, system: str, judge: str, score: Array | None, level: float) -> list[Row]:
    """Return every estimator of a system, with a reason if it has no interval."""
    lacking = rows.lacking()
    n, total = int(rows.labeled.sum()), len(rows.labels)
    every: list[tuple[str, str, MeanEstimate, str]] = [
        ("human", "labels_only", mean_estimate(rows.sample(None), "labels", level), lacking)
    ]
    if score is not None and n < total:
        sample = rows.sample(score)
        every.append((judge, "ppi_plus", mean_estimate(sample, "ppi++", level), lacking))
        if len(rows.scores) == 1 and _scale(rows, score):
            every.append((judge, "ppi", mean_estimate(sample, "ppi", level), lacking))
        for name, own in rows.scores.items():
            if _scale(rows, own):
                every.append((name, "judge_only", mean_estimate(rows.sample(own), "judge", level), ""))
    made = [_row(rows, system, who, measure, e, why) for who, measure, e, why in every]
    for row in made[: 2 if score is not None and n < total else 1]:  # labels only and PPI++
        with_judge = row["measure"] == "ppi_plus"
        e = mean_estimate(
            rows.sample(score if with_judge else None), "ppi++" if with_judge else "labels", level, equal_tails=True
        )
        row.update({} if lacking else {"low_alone": float(e.low), "high_alone": float(e.high)})
    if score is not None and n < total and rows.share and set(np.unique(score)) <= {0.0, 1.0}:
        made.append(_corrected(rows, system, judge, score, level))
    return made


def _scale(rows: Rows, score: Array) -> bool:
    """Return whether the judge's scores are on the human scale."""
    low, high = (0.0, 1.0) if rows.share else (min(rows.levels), max(rows.levels))
    return bool(score.min() >= low and score.max() <= high)


def _row(rows: Rows, system: str, judge: str, measure: str, e: MeanEstimate, why: str) -> Row:
    n = len(rows.labels) if measure == "judge_only" else int(rows.labeled.sum())
    return {
        "metric": judge,
        "aspect": rows.aspect,
        "measure": measure,
        "value": float(e.value),
        "low": np.nan if why else float(e.low),
        "high": np.nan if why else float(e.high),
        "p": np.nan,
        "n": n,
        "rows": len(rows.labels),
        "system": system,
        "weight": float(e.weight),
        "worth": np.nan if why or measure == "judge_only" else float(e.worth),
        "low_alone": np.nan,
        "high_alone": np.nan,
        "reason": why or None,
    }


def _corrected(rows: Rows, system: str, judge: str, score: Array, level: float) -> Row:
    """Return Rogan and Gladen's estimate from the judge's verdicts and its error rates on the labeled outputs."""
    y, f = rows.labels[rows.labeled], score[rows.labeled]
    passed, failed = float((y > 0.5).sum()), float((y < 0.5).sum())
    independent = rows.probability is None and rows.strata is None and len(np.unique(rows.unit)) == len(rows.unit)
    base = mean_estimate(PartlyLabeled(rows.labels, score), "judge", level)
    if not independent or min(passed, failed) < MIN_VERDICTS:
        why = (
            f"the correction requires at least {MIN_VERDICTS} labels of each verdict; found {int(min(passed, failed))}"
            if independent
            else "the correction requires outputs drawn at random that do not share an input"
        )
        return {**_row(rows, system, judge, "rogan_gladen", base, why), "value": np.nan}
    corrected = rogan_gladen(
        (score.sum(), len(score)), (f[y > 0.5].sum(), passed), ((1 - f[y < 0.5]).sum(), failed), level
    )
    why = "" if np.isfinite(corrected.value) else "the judge may be no better than chance on these labels"
    return {
        **_row(rows, system, judge, "rogan_gladen", base, why),
        "value": float(corrected.value),
        "low": float(corrected.low),
        "high": float(corrected.high),
        "worth": np.nan,
        "weight": np.nan,
    }


def _systems(
    rows: Rows, judge: str, score: Array | None, method: EstimateMethod, part: EstimatePart, level: float, seed: int
) -> Table:
    """Estimate the differences between systems, or their ranks."""
    names, parts = [], []
    for system in dict.fromkeys(rows.system.tolist()):
        inside = rows.system == system
        if (of_system := rows.of(inside)).labeled.any() and not of_system.lacking():
            names.append(system)
            parts.append((of_system, None if score is None else score[inside]))
    if len(names) < 2:
        raise NeedsMissing(
            "fewer than two systems have enough labels to compare.",
            data=rows.name,
            aspect=rows.aspect,
            code="too_few_labels",
        )
    compared = compare_systems([r.sample(s) for r, s in parts], [r.unit for r, _ in parts], method, level, seed)
    shared: Row = {"metric": _method_name(rows, method), "aspect": rows.aspect}
    labels = [int(r.labeled.sum()) for r, _ in parts]
    make = _difference_rows if part == "differences" else _rank_rows
    made = [{**shared, **row} for row in make(compared, names, labels)]
    return Table(
        title=Title(rows.name, f"{part} of the systems by {method}, {rows.aspect}"),
        rows=made,
        shown=["system", "other", "value", "n"] if part == "differences" else ["system", "value", "mean", "n"],
        heads={"value": "difference" if part == "differences" else "rank", "other": "minus"},
        cells={
            "value": (lambda row: value_text(row, rows.share, signed=True)) if part == "differences" else _rank,
            "mean": lambda row: value_text(
                {**row, "value": row["mean"], "low": row["mean_low"], "high": row["mean_high"]}, rows.share
            ),
        },
        facts={"share": rows.share},
        method=f"Simultaneous {level:.0%} confidence intervals of all {part} (max-t), from the covariance of the "
        "systems "
        "over inputs; for shares from the two intervals and their correlation.",
    )


def _method_name(rows: Rows, method: EstimateMethod) -> str:
    """Return the basis of the estimates: human labels alone, the judge, or all judges."""
    if method == "labels":
        return "human"
    return next(iter(rows.scores)) if len(rows.scores) == 1 else TOGETHER


def _difference_rows(compared: Systems, names: list[str], labels: list[int]) -> list[Row]:
    """Return a row per pair of systems."""
    return [
        {
            "measure": "difference",
            "value": float(compared.difference[k]),
            "low": float(compared.low[k]),
            "high": float(compared.high[k]),
            "p": np.nan,
            "n": labels[i] + labels[j],
            "system": names[i],
            "other": names[j],
            "reason": None,
        }
        for k, (i, j) in enumerate(compared.pairs)
    ]


def _rank_rows(compared: Systems, names: list[str], labels: list[int]) -> list[Row]:
    """Return a row per system, the best first."""
    order = np.argsort([-float(e.value) for e in compared.together], kind="stable").tolist()
    return [
        {
            "measure": "rank",
            "system": names[k],
            "value": float(place),
            "low": float(compared.best_rank[k]),
            "high": float(compared.worst_rank[k]),
            "p": np.nan,
            "n": labels[k],
            "mean": float(compared.together[k].value),
            "mean_low": float(compared.together[k].low),
            "mean_high": float(compared.together[k].high),
            "reason": None,
        }
        for place, k in enumerate(order, start=1)
    ]


def _rank(row: Row) -> str:
    return f"{row['value']:.0f}" + (f" [{row['low']:.0f} {row['high']:.0f}]" if row["high"] > row["low"] else "")


def _sentences(rows: Rows, estimates: list[Row], best: Row) -> list[str]:
    """Summarize the estimate of a system, or over all outputs."""
    of_system = {r["measure"]: r for r in estimates if r["system"] == best["system"]}
    share, plain = rows.share, of_system["labels_only"]
    whose = "" if best["system"] == ALL else f" of '{best['system']}'"
    what = f"{'human pass rate' if share else 'mean human rating'}{whose}"
    basis = f"{count(best['n'], 'label')}{' and the judge' if best is not plain else ''}"
    if not np.isfinite(best["low"]):
        return [f"No confidence interval of the {what} from {basis} ({value_text(best, share)}): {best['reason']}."]
    text = f"Estimated {what}: {value_text(best, share)} from {basis}"
    if best is not plain and np.isfinite(plain["low"]):
        text += f"; from the labels alone: {value_text(plain, share)}"
    judged = [r for r in estimates if r["measure"] == "judge_only" and r["system"] == best["system"]]
    if judged:
        farthest = max(judged, key=lambda r: abs(r["value"] - best["value"]))
        inside = best["low"] <= farthest["value"] <= best["high"]
        text += (
            f"; from {farthest['metric']} alone: {value_text({**farthest, 'low': np.nan}, share)} "
            f"({'inside' if inside else 'outside'} the interval)"
        )
    lines = [text + "."]
    if best["measure"] == "ppi_plus" and np.isfinite(best["worth"]):
        lines.append(
            f"Effective sample size with the judge: {best['worth']:,.0f} ({best['n']:,} labels)."
            if best["worth"] - best["n"] >= 1
            else "The judge does not increase the effective sample size."
        )
    return lines
