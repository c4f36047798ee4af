"""How good would people find these outputs? Means from few labels and many judge scores, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from nlgauge import __version__
from nlgauge.analyses import analysis
from nlgauge.analyses.estimates._partly_labelled import (
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
from nlgauge.number import number
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
MAX_SENTENCES = 4  # systems whose estimate is also a sentence, where there is none over all
Part = tuple[Rows, Array | None]  # rows of a system, and the judge's score of each
WORDS = {
    "labels_only": "labels only",
    "ppi": "PPI",
    "ppi_plus": "PPI++",
    "rogan_gladen": "corrected for both error rates",
    "judge_only": "judge only, no estimate",
    "difference": "difference",
    "rank": "rank",
}
NOT_ENOUGH = 10  # labels of each verdict for its error rates: with five the interval covered .91 (bench/estimates.py)


@analysis(
    "estimate",
    question="How good would people find these outputs, from labels of a few?",
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
    people_pass_from: float | None = None,
    probability: str | None = None,
    strata: str | None = None,
    margin: float | None = None,
    level: float = 0.95,
) -> Table:
    """Estimate the mean human rating or pass rate of each system from few labels and a judge's scores.

    `metrics` names the judge; several become one prediction.

    Parameters
    ----------
    choice : Choice
        Data, and the aspects, metrics and parts of it to use.
    aspect : str, optional
        Aspect of the labels; may be left out where there is only one.
    method : {'ppi++', 'ppi', 'labels'}, default 'ppi++'
        For part=differences and part=ranks: `ppi++`, `ppi`, or the `labels` alone.
    part : {'means', 'differences', 'ranks'}, default 'means'
        `means` of the systems, their `differences`, or their `ranks`; the latter two have intervals that hold
        for all at once.
    people_pass_from : float, optional
        Lowest human rating that counts as pass; required where there are more than two values.
    probability : str, optional
        Column with the probability with which each labeled output was drawn; without it and `strata`, labels
        are taken as a simple random sample.
    strata : str, optional
        Column with the stratum in which each output was drawn.
    margin : float, optional
        Largest difference of the judge's mean error between two systems that does not matter, in units of the
        labels; by default 5% of the range of the human scale.
    level : float, default 0.95
        Level of the confidence intervals.

    Returns
    -------
    Table
        For part=means one row per system and estimator: from labels only, with the judge (PPI, PPI++, and
        corrected for both error rates), and from the judge only, which is no estimate. `low_alone` and
        `high_alone` are one-sided ends, to be held against a limit. NaN with a `reason` where there are too
        few labels.

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
        cut=people_pass_from,
        probability=probability,
        strata=strata,
        keep_people=choice.keep_people,
    )
    counts = rows.label_counts()
    judge, score, notes = predictor(rows)
    if score is None and method != "labels":
        raise NeedsMissing(
            f"no judge's scores; name their columns with {option('metrics')}, or use {option('method', 'labels')}.",
            data=data.name,
            code="no_scores",
        )
    if margin is not None and margin <= 0:
        raise NlgaugeError(f"margin must be above 0; got {margin:g}.")
    inside = ~np.isin(rows.system, counts.left_out)
    if not inside.any():
        raise NeedsMissing(
            f"{counts.gap_text()}; label at least {PROBE_LABELS} of a system.",
            data=data.name,
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
        table.notes.append(f"left out: {counts.gap_text()}.")
    found = representative(covered)
    if found:
        words, fine = check_words(found)
        (table.notes if fine else table.headlines).append(words)
    table.facts["representative"] = {name: round(p, 6) for name, p in found}
    table.facts["labels"] = dict(zip(counts.names, counts.labels, strict=True))
    table.notes += [*notes, *rows.notes, *design_notes(rows, counts)]
    table.signature = f"nlgauge:{__version__}|aspect:{rows.aspect}|rows:{len(rows.labels)}|level:{number(level, 2)}"
    return table


def _means(
    rows: Rows, counts: SystemLabels, judge: str, score: Array | None, level: float, margin: float | None
) -> Table:
    """Means of the systems that have labels, and over all of them where none is left out."""
    several = len(counts.names) > 1
    parts = {
        name: (mine, None if score is None else score[inside])
        for name in counts.covered
        if (mine := rows.of(inside := rows.system == name)).labeled.any()
    }
    found: list[Row] = []
    if several and not counts.left_out:
        own_labels = len(parts) == len(counts.names) and not any(mine.lacking() for mine, _ in parts.values())
        designed = rows.probability is not None or rows.strata is not None
        if own_labels and not designed and not counts.even:
            found += _pooled_rows(rows, list(parts.values()), judge, score, level)
        else:
            found += _mean_rows(rows, ALL, judge, score, level)
    for name, (mine, own) in parts.items():
        found += _mean_rows(mine, name if several else ALL, judge, own, level)
    best = next((r for r in found if r["measure"] == "ppi_plus"), found[0])
    answers = _sentences(rows, found, best) if not counts.left_out else []
    margin = margin or MARGIN * (1.0 if rows.share else max(rows.levels) - min(rows.levels))
    if counts.left_out:
        size = dict(zip(counts.names, counts.rows, strict=True))
        needed = {name: labels_needed(found, size[name], margin) for name in counts.left_out}
        whose = "it" if len(needed) == 1 else "each"
        answers.append(
            f"No estimate over all outputs: {counts.gap_text()}: label about {max(needed.values()):,} outputs of "
            f"{whose} (for a {level:.0%} CI of about ±{margin:.2g})."
        )
        named = [r for r in found if r["measure"] == best["measure"] and r["system"] in parts]
        answers += [_sentences(rows, found, r)[0] for r in named[:MAX_SENTENCES]]
        found += refused_rows(counts, rows.aspect, judge, needed)
    audit, transfers = (
        ([], {})
        if not counts.unequal or score is None
        else audit_systems(
            {name: mine.sample(own) for name, (mine, own) in parts.items() if not mine.lacking()}, counts, margin
        )
    )
    return Table(
        title=Title(rows.name, f"{'share that people pass' if rows.share else 'mean rating of people'}, {rows.aspect}"),
        rows=found,
        layout=Layout("system", LINE_COLUMNS, "value", heads={(r["measure"], r["metric"]): _line(r) for r in found})
        if several
        else Layout(LINE_COLUMNS, "system", "value", line=lambda key: _line(dict(zip(LINE_COLUMNS, key, strict=True)))),
        cells={"value": lambda row: value_text(row, rows.share)},
        answers=[*answers, *audit],
        facts={"share": rows.share, "transfer": transfers},
        method=f"{level:.0%} intervals for outputs like these, "
        + (
            "with half a pass and half a fail added that the judge gets wrong (labels alone, drawn at random: a count)."
            if rows.share
            else "as of a share between the lowest and the highest rating, from as many labels as have this variance."
        ),
        notes=_missing(found),
    )


def _pooled_rows(rows: Rows, parts: Sequence[Part], judge: str, score: Array | None, level: float) -> list[Row]:
    """Pool systems that have different shares of labels: each counts by its outputs and uses its own labels."""
    weights = np.array([len(mine.labels) for mine, _ in parts]) / len(rows.labels)
    units = [mine.unit for mine, _ in parts]
    methods: dict[str, Method] = {"labels_only": "labels"}
    if score is not None and not rows.labeled.all():
        methods["ppi_plus"] = "ppi++"
        if len(rows.scores) == 1 and _scale(rows, score):
            methods["ppi"] = "ppi"
    made: list[Row] = []
    plain_se = np.nan
    for measure, method in methods.items():
        samples = [mine.sample(None if method == "labels" else own) for mine, own in parts]
        each, covariance = joint_means(samples, units, method, level)
        sd = np.sqrt(np.diag(covariance))
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = np.nan_to_num(covariance / np.outer(sd, sd))
        np.fill_diagonal(correlation, 1.0)
        pooled = pool_means(each, weights, correlation)
        plain_se = pooled.se if method == "labels" else plain_se
        row = _row(rows, ALL, "people" if method == "labels" else judge, measure, pooled, "")
        row["worth"] = row["n"] * float((plain_se / pooled.se) ** 2) if pooled.se > 0 else np.nan
        if method != "ppi":
            apart = [mean_estimate(sample, method, level, equal_tails=True) for sample in samples]
            ends = pool_means(apart, weights, correlation)
            row |= {"low_alone": float(ends.low), "high_alone": float(ends.high)}
        made.append(row)
    if "ppi_plus" in methods:
        made += [
            _row(rows, ALL, name, "judge_only", mean_estimate(rows.sample(own), "judge", level), "")
            for name, own in rows.scores.items()
            if _scale(rows, own)
        ]
    return made


def _missing(found: list[Row]) -> list[str]:
    """What has no interval or is not given at all, and why; systems with the same reason in one line."""
    where: dict[tuple[str, str], list[str]] = {}
    for row in found:
        if row["reason"]:
            what = "no interval" if np.isfinite(row["value"]) else "not given"
            where.setdefault((what, row["reason"]), []).append(row["system"])
    several = len({row["system"] for row in found}) > 1
    named = {key: f" of {', '.join(dict.fromkeys(systems))}" if several else "" for key, systems in where.items()}
    return [RowNote(f"{what}{whose}: {why}.") for (what, why), whose in named.items()]


def _line(row: Row) -> str:
    return WORDS[row["measure"]] + (f" ({row['metric']})" if row["measure"] != "labels_only" else "")


def _mean_rows(rows: Rows, system: str, judge: str, score: Array | None, level: float) -> list[Row]:
    """Every estimator of one system; each with a reason where it has no interval."""
    lacking = rows.lacking()
    n, total = int(rows.labeled.sum()), len(rows.labels)
    every: list[tuple[str, str, MeanEstimate, str]] = [
        ("people", "labels_only", mean_estimate(rows.sample(None), "labels", level), lacking)
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
    """The judge's numbers are on people's scale."""
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
    """Rogan and Gladen's estimate from the judge's verdicts and its error rates on the labelled rows."""
    held = rows.labeled
    y, f = rows.labels[held], score[held]
    passed, failed = float((y > 0.5).sum()), float((y < 0.5).sum())
    alone = rows.probability is None and rows.strata is None and len(np.unique(rows.unit)) == len(rows.unit)
    base = mean_estimate(PartlyLabeled(rows.labels, score), "judge", level)
    if not alone or min(passed, failed) < NOT_ENOUGH:
        why = (
            f"the correction needs at least {NOT_ENOUGH} labels of each verdict, found {int(min(passed, failed))}"
            if alone
            else "the correction is for rows drawn at random that do not share an input"
        )
        return {**_row(rows, system, judge, "rogan_gladen", base, why), "value": np.nan}
    found = rogan_gladen((score.sum(), len(score)), (f[y > 0.5].sum(), passed), ((1 - f[y < 0.5]).sum(), failed), level)
    why = "" if np.isfinite(found.value) else "the judge may be no better than chance on these labels"
    return {
        **_row(rows, system, judge, "rogan_gladen", base, why),
        "value": float(found.value),
        "low": float(found.low),
        "high": float(found.high),
        "worth": np.nan,
        "weight": np.nan,
    }


def _systems(
    rows: Rows, judge: str, score: Array | None, method: EstimateMethod, part: EstimatePart, level: float, seed: int
) -> Table:
    """Differences of systems, or their ranks."""
    names, parts = [], []
    for system in dict.fromkeys(rows.system.tolist()):
        inside = rows.system == system
        if (mine := rows.of(inside)).labeled.any() and not mine.lacking():
            names.append(system)
            parts.append((mine, None if score is None else score[inside]))
    if len(names) < 2:
        raise NeedsMissing(
            "fewer than two systems have enough labels to compare.",
            data=rows.name,
            aspect=rows.aspect,
            code="too_few_labels",
        )
    found = compare_systems(
        [mine.sample(s) for mine, s in parts], [mine.unit for mine, _ in parts], method, level, seed
    )
    shared: Row = {"metric": _method_name(rows, method), "aspect": rows.aspect}
    labels = [int(mine.labeled.sum()) for mine, _ in parts]
    make = _difference_rows if part == "differences" else _rank_rows
    made = [{**shared, **row} for row in make(found, names, labels)]
    return Table(
        title=Title(rows.name, f"{part} of the systems by {method}, {rows.aspect}"),
        rows=made,
        shown=["system", "other", "value", "n"] if part == "differences" else ["system", "value", "mean", "n"],
        heads={"value": "difference" if part == "differences" else "rank", "other": "less"},
        cells={
            "value": (lambda row: value_text(row, rows.share, signed=True)) if part == "differences" else _rank,
            "mean": lambda row: value_text(
                {**row, "value": row["mean"], "low": row["mean_low"], "high": row["mean_high"]}, rows.share
            ),
        },
        facts={"share": rows.share},
        method=f"Intervals that hold for all {part} at once with {level:.0%}: largest t among all, from the covariance "
        "of the systems over inputs; of shares from the two intervals and their correlation.",
    )


def _method_name(rows: Rows, method: EstimateMethod) -> str:
    """Name what the estimates rest on: labels alone, the judge, or all judges."""
    if method == "labels":
        return "people"
    return next(iter(rows.scores)) if len(rows.scores) == 1 else TOGETHER


def _difference_rows(found: Systems, names: list[str], labels: list[int]) -> list[Row]:
    """Return a row per pair of systems."""
    return [
        {
            "measure": "difference",
            "value": float(found.difference[k]),
            "low": float(found.low[k]),
            "high": float(found.high[k]),
            "p": np.nan,
            "n": labels[i] + labels[j],
            "system": names[i],
            "other": names[j],
            "reason": None,
        }
        for k, (i, j) in enumerate(found.pairs)
    ]


def _rank_rows(found: Systems, names: list[str], labels: list[int]) -> list[Row]:
    """Return a row per system, the best first."""
    order = np.argsort([-float(e.value) for e in found.together], kind="stable").tolist()
    return [
        {
            "measure": "rank",
            "system": names[k],
            "value": float(place),
            "low": float(found.best_rank[k]),
            "high": float(found.worst_rank[k]),
            "p": np.nan,
            "n": labels[k],
            "mean": float(found.together[k].value),
            "mean_low": float(found.together[k].low),
            "mean_high": float(found.together[k].high),
            "reason": None,
        }
        for place, k in enumerate(order, start=1)
    ]


def _rank(row: Row) -> str:
    return f"{row['value']:.0f}" + (f" [{row['low']:.0f} {row['high']:.0f}]" if row["high"] > row["low"] else "")


def _sentences(rows: Rows, found: list[Row], best: Row) -> list[str]:
    """The answer over all outputs in words."""
    mine = {r["measure"]: r for r in found if r["system"] == best["system"]}
    share, plain = rows.share, mine["labels_only"]
    whose = "these outputs" if best["system"] == ALL else f"outputs of '{best['system']}'"
    said = "People would pass" if share else f"People would give {whose}"
    what = " on average" if not share else " of outputs like these" if best["system"] == ALL else f" of {whose}"
    if not np.isfinite(best["low"]):
        labels = f"{best['n']:,} label{'s' if best['n'] > 1 else ''}{' and the judge' if best is not plain else ''}"
        return [f"{labels} give {value_text(best, share)}{what}, which is no estimate yet: {best['reason']}."]
    text = f"{said} {value_text(best, share)}{what}"
    if best is not plain and np.isfinite(plain["low"]):
        text += f"; from the {plain['n']:,} labels alone {value_text(plain, share)}"
    judged = [r for r in found if r["measure"] == "judge_only" and r["system"] == best["system"]]
    if judged and np.isfinite(best["low"]):
        far = max(judged, key=lambda r: abs(r["value"] - best["value"]))
        inside = best["low"] <= far["value"] <= best["high"]
        text += (
            f"; {far['metric']} alone says {value_text({**far, 'low': np.nan}, share)}, which is "
            f"{'inside, though its own interval knows nothing of its errors' if inside else 'outside'}"
        )
    lines = [text + "."]
    if best["measure"] == "ppi_plus" and np.isfinite(best["worth"]):
        more = best["worth"] - best["n"]
        lines.append(
            f"With the judge the {best['n']:,} labels are worth about {best['worth']:,.0f}."
            if more >= 1
            else "The judge adds nothing to these labels."
        )
    return lines
