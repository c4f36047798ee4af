"""Discriminative power (DP) and ranking consistency (RC) of twelve measures on SummEval, for real LLM judges.

`nlgauge reproduce gao2025 judge-measures` uses the released replies of nine judges, the metrics published with the set,
and files of scores (judge_scores.py): those that are shipped and any given by `--set scores=mine.csv`. A statement of
the paper holds if the confidence interval of the difference excludes the opposite: for the same judges on other
documents, and for other judges on the same documents.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from scipy.special import stdtrit

from nlgauge import Table
from nlgauge.plugins import Layout, Row, interval
from nlgauge.stats import TWELVE, discriminative_power, over_metrics, permutation_pairs, ranking_consistency
from nlgauge_papers import Sources, further, published_rows
from nlgauge_papers.common import Array, Ints
from nlgauge_papers.gao2025.claims import ORDERS, TIE_TOLERANCE, statements_of
from nlgauge_papers.gao2025.judge_families import Family, families, judged
from nlgauge_papers.gao2025.judge_scales import (
    HOLDS,
    LEVEL,
    MARKS,
    NOT,
    UNSURE,
    agreement_table,
    averaging_table,
    scale_tables,
)
from nlgauge_papers.gao2025.judge_scores import shipped_files
from nlgauge_papers.gao2025.measures import numbered
from nlgauge_papers.gao2025.simulation import heads

PAPER = "the paper, D1 to D4"
OWN = "the paper's 30 sets"
GROUPS = 10  # groups of documents, left out one at a time
REDRAWS = 200  # draws and splits of each of these; fewer make the interval slightly wider, not narrower


@dataclass(frozen=True)
class Stability:
    """DP and RC by measure, and the contribution of each pair of scorers (P×12), means over the aspects."""

    dp: Array
    rc: Array
    p: Array
    kept: Array
    pairs: Ints


def stability_of_family(family: Family, draws: int, seed: int = 0) -> Stability:
    """Compute the permutation test of all pairs (1,000 draws in the paper) and splits of the inputs, on each aspect."""
    p, selected = [], []
    for x, z in family.panels.values():
        tests = permutation_pairs(x, z, TWELVE, draws=draws, seed=seed)
        p.append(tests.p)
        selected.append(ranking_consistency(x, z, TWELVE, trials=draws, seed=seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a pair without a value on any aspect
        mean_p, by_pair = np.nanmean(p, axis=0), np.nanmean([k.by_pair for k in selected], axis=0)
        rc = np.nanmean([k.value for k in selected], axis=0)
        dp = np.nanmean([discriminative_power(one) for one in p], axis=0)
    return Stability(dp, rc, mean_p, by_pair, np.asarray(tests.pairs))


def without_documents(family: Family, draws: int, seed: int = 0) -> list[Stability]:
    """Compute the same without each of ten random groups of documents."""
    inputs = next(iter(family.panels.values()))[1].shape[1]
    results = []
    for group in np.array_split(np.random.default_rng(seed).permutation(inputs), min(GROUPS, inputs)):
        rest = np.setdiff1d(np.arange(inputs), group)
        panels = {a: (x[:, :, rest], z[:, rest]) for a, (x, z) in family.panels.items()}
        results.append(stability_of_family(Family(family.name, family.scorers, panels), min(draws, REDRAWS), seed))
    return results


def verdict(sign: str, low: float, high: float) -> str:
    """Return the verdict on a statement `a sign b` from the interval of a − b.

    >>> verdict("<", -0.2, -0.1), verdict("<", -0.2, 0.1), verdict("≈", -0.01, 0.02), verdict(">", -0.2, -0.1)
    ('holds', 'inconclusive', 'holds', 'does not hold')
    """
    if not (np.isfinite(low) and np.isfinite(high)):
        return UNSURE
    if sign == "≈":
        return (
            HOLDS
            if low >= -TIE_TOLERANCE and high <= TIE_TOLERANCE
            else NOT
            if low > TIE_TOLERANCE or high < -TIE_TOLERANCE
            else UNSURE
        )
    if sign == ">":
        low, high = -high, -low
    return HOLDS if high < 0 else NOT if low > 0 else UNSURE


EVERY = [(claim, *one) for claim, order in ORDERS.items() for one in statements_of(order)]
SURE = 1 - (1 - LEVEL) / len(EVERY)


def _columns(name: str) -> list[int]:
    return [i for i, m in enumerate(TWELVE) if name in (m.grouping, m.coefficient)]


def statement_rows(family: Family, whole: Stability, parts: Sequence[Stability]) -> list[Row]:
    """Test every statement of section 5 for a family: the difference, with intervals for other documents and other
    scorers.

    `low`, `high` and `verdict` are for other documents (`parts` leave out some each), `…_scorers` for other scorers.
    """
    rows: list[Row] = []
    for claim, a, sign, b in EVERY:
        by_pair, *left = (_difference(result, claim, a, b) for result in (whole, *parts))
        value = float(np.nanmean(by_pair))
        scorers = over_metrics(by_pair, whole.pairs, level=SURE)
        low, high = jackknifed(value, [float(np.nanmean(d)) for d in left], SURE)
        ends = float(scorers.low), float(scorers.high)
        rows.append(
            {
                "family": family.name,
                "claim": claim,
                "statement": f"{a} {sign} {b}",
                "value": value,
                "low": low,
                "high": high,
                "verdict": verdict(sign, low, high),
                "low_scorers": ends[0],
                "high_scorers": ends[1],
                "verdict_scorers": verdict(sign, *ends),
                "n": len(family.scorers),
            }
        )
    return rows


def paper_rows() -> list[Row]:
    """Test the same statements on Tables 2 and 3 of the paper: the mean over its six data sets, with an interval
    over sets.
    """
    cells = {kind: printed_cells(table) for kind, table in (("DP", "2"), ("RC", "3"))}
    sets: dict[str, list[str]] = {}
    for number, part, _ in numbered():
        sets.setdefault(part.set, []).append(number)
    rows: list[Row] = []
    for claim, a, sign, b in EVERY:
        index = cells[claim[:2]]
        by_set = [
            fmean(
                fmean(index[d, str(TWELVE[i])] for i in _columns(a))
                - fmean(index[d, str(TWELVE[i])] for i in _columns(b))
                for d in numbers
            )
            for numbers in sets.values()
        ]
        value, n = fmean(by_set), len(by_set)
        low, high = jackknifed(value, [(n * value - one) / (n - 1) for one in by_set], SURE)
        rows.append(
            {
                "family": OWN,
                "claim": claim,
                "statement": f"{a} {sign} {b}",
                "value": value,
                "low": low,
                "high": high,
                "verdict": verdict(sign, low, high),
                "n": 32,
            }
        )
    return rows


def _difference(found: Stability, claim: str, a: str, b: str) -> Array:
    """Return the difference of two levels or coefficients, in DP or RC, by pair of scorers."""
    values = found.p if claim.startswith("DP") else found.kept
    return np.asarray(values[:, _columns(a)].mean(axis=1) - values[:, _columns(b)].mean(axis=1))


def jackknifed(value: float, left: Sequence[float], level: float) -> tuple[float, float]:
    """Compute the jackknife interval with Student's t from values without one part each; NaN below three parts.

    >>> [round(end, 3) for end in jackknifed(2.0, [1.5, 2.0, 2.5], 0.95)]
    [-0.484, 4.484]
    """
    n = len(left)
    if n < 3:
        return float("nan"), float("nan")
    error = np.sqrt((n - 1) / n * np.sum((np.asarray(left) - np.mean(left)) ** 2))
    half = float(stdtrit(n - 1, 0.5 + level / 2) * error)
    return value - half, value + half


def printed_cells(table: str) -> dict[tuple[str, str], float]:
    """Return what the paper prints, by set (D1 … D30) and measure."""
    return {
        (row["set"], f"{row['level']}/{row['function']}".lower()): float(row["printed"])
        for row in published_rows("gao2025", table)
    }


def printed_rows() -> list[Row]:
    """Return the DP and RC of SummEval's four aspects in the paper, as means of D1 to D4."""
    dp, rc = printed_cells("2"), printed_cells("3")
    return [
        {
            "family": PAPER,
            "measure": m,
            "n": 32,
            **{what: fmean(index[f"D{k}", m] for k in range(1, 5)) for what, index in (("dp", dp), ("rc", rc))},
        }
        for m in map(str, TWELVE)
    ]


def measures_table(rows: list[Row], about: Mapping[str, str], draws: int, notes: list[str]) -> Table:
    """Lay out DP and RC of every measure by family."""
    long: list[Row] = [
        {**{k: row[k] for k in ("family", "measure", "n")}, "what": what, "value": row[what.lower()]}
        for what in ("DP", "RC")
        for row in rows
    ]
    return Table(
        "SummEval: discriminative power and ranking consistency of twelve measures, by family of scorers",
        long,
        Layout(("what", "family"), "measure", "value", heads=heads(TWELVE)),
        method=f"DP: mean p of all pairs (lower is better), permutation test with {draws:,} draws; RC: mean tau-b of "
        f"the rankings on two halves of the inputs (higher is better), {draws:,} splits; means over aspects; seed 0. "
        + "; ".join(f"{name}: {size}" for name, size in about.items())
        + f"; {PAPER}: 32 metrics, 18 of them GPT judges, 16 × 100, as printed.",
        notes=notes,
        kind="judge-measures",
    )


def statements_table(rows: list[Row]) -> Table:
    """Lay out the statements by family, with marks and intervals."""
    answers = [said_of([row for row in rows if row["family"] == n]) for n in dict.fromkeys(r["family"] for r in rows)]
    return Table(
        "SummEval: the paper's statements about the order of measures (sections 5.1 and 5.2), one by one",
        rows,
        Layout(("claim", "statement"), "family", "text"),
        cells={"text": _statement_cell},
        method="difference of the two means in DP or RC, with its interval over documents (ten groups left out one at "
        f"a time, {REDRAWS} draws and splits each, Student's t; {OWN}: over its six data sets), at {LEVEL:.0%} for all "
        f"{len(EVERY)} statements about a family together. ✓ holds: the interval lies on the side that the paper says "
        f"(≈: within {TIE_TOLERANCE}); ✗ does not hold: other side; ? inconclusive. The first mark is for the same "
        "scorers on other documents, the second for other scorers like these (left out one at a time; rows have both).",
        answers=answers,
        notes=["five of the nine judges are one model, GPT-3.5, in five prompts: intervals take them as five judges"],
        kind="judge-statements",
    )


def said_of(rows: Sequence[Row]) -> str:
    """Summarize the statements of the paper for a family."""
    side = sum(as_stated(row) for row in rows)
    parts = [f"{rows[0]['family']}: {side} of {len(rows)} differences lie as the paper states"]
    abouts = {"verdict": "on other documents", "verdict_scorers": "with other scorers"}
    if "verdict_scorers" not in rows[0]:
        abouts = {"verdict": "on other data sets"}
    for column, about in abouts.items():
        counts = {v: sum(row[column] == v for row in rows) for v in (HOLDS, NOT, UNSURE)}
        against = [f"{row['claim'][:2]} {row['statement']}" for row in rows if row[column] == NOT]
        named = f" ({', '.join(against)})" if against else ""
        parts.append(
            f"{about}: holds {counts[HOLDS]}, does not hold {counts[NOT]}{named}, inconclusive {counts[UNSURE]}"
        )
    return "; ".join(parts) + "."


def as_stated(row: Row) -> bool:
    """Return whether the difference itself, without its interval, is as the paper states."""
    sign, value = row["statement"].split()[1], row["value"]
    return bool({"<": value < 0, ">": value > 0, "≈": abs(value) <= TIE_TOLERANCE}[sign])


def _statement_cell(row: Row) -> str:
    marks = MARKS[row["verdict"]] + (MARKS[row["verdict_scorers"]] if "verdict_scorers" in row else "")
    return f"{marks} {interval(row['value'], row['low'], row['high'], 2)}"


@further("gao2025", "judge-measures", title="The order of measures with real judges", sets=["summeval"])
def study(
    sources: Sources, scores: str | Sequence[str] = (), draws: int = 1000, seed: int = 0, shipped: bool = True
) -> list[Table]:
    """Compute DP and RC by family, and evaluate statements, scales, averages and single judges.

    `scores` names your own files of scores; `shipped=false` omits those in the package.
    """
    own = [name.strip() for name in (scores.split(",") if isinstance(scores, str) else scores) if name.strip()]
    all_, notes = judged(sources, [*(shipped_files() if shipped else []), *own])
    rows, text, about = printed_rows(), paper_rows(), dict[str, str]()
    for family in families(all_):
        if family.left_out:
            notes.append(f"{family.name}: the same score for every output, so left out: {', '.join(family.left_out)}")
        if family.too_small:
            notes.append(f"{family.name}: {family.too_small}")
            continue
        sources.tell(f"{family.name}: {family.size}")
        result = stability_of_family(family, draws, seed)
        about[family.name] = family.size
        rows += [
            {
                "family": family.name,
                "measure": str(m),
                "dp": float(result.dp[j]),
                "rc": float(result.rc[j]),
                "n": len(family.scorers),
            }
            for j, m in enumerate(TWELVE)
        ]
        if not family.context_only:
            text += statement_rows(family, result, without_documents(family, draws, seed))
    sources.tell("scales, averages, single judges")
    return [
        measures_table(rows, about, draws, list(dict.fromkeys(notes))),
        statements_table(text),
        *scale_tables(all_, seed),
        averaging_table(all_, seed),
        agreement_table(all_, seed),
    ]
