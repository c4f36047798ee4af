"""Discriminative power and ranking consistency of measures (Gao et al. 2025, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, defined_measures, human_note, signature
from nlgauge.analyses.comparing.compare_pairs import PairTest, Test, run_test
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import interval, number, some
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.correlation.ranks import average_ranks
from nlgauge.stats.design.stability import (
    ENOUGH,
    LEAST_POWER,
    Advice,
    RankingConsistency,
    advise,
    discriminative_power,
    over_metrics,
    p_value_curve,
    pairs_to_test,
    ranking_consistency,
)
from nlgauge.stats.resampling.jackknife import SYSTEMS
from nlgauge.stats.tests.permutation import PairTests
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array

HEADS = {
    "dp": "DP", "dp_low": "DP low", "dp_high": "DP high", "rc": "RC", "rc_low": "RC low", "rc_high": "RC high",
    "rc_systems": "RC systems",
}  # fmt: skip
DEFINITIONS = {
    "DP": "discriminative power, the mean p-value over all pairs of metrics; lower is better; interval over metrics",
    "RC": "ranking consistency, the mean tau-b of the metric rankings on two halves of the inputs; higher is better; "
    "interval over metrics",
    "RC systems": "ranking consistency on two halves of the systems",
    "reliable": f"the interval of DP ends below {number(LEAST_POWER, 2)} and that of RC begins above 0, on halves of "
    "the "
    f"inputs and of the systems (with {SYSTEMS} or more); a measure is the best if it is significantly better in DP "
    "and RC than "
    "every other one (simultaneous 95% intervals over metrics)",
}


@analysis(
    "stability",
    trials="mean",
    paper="gao2025",
    question="Which measure has the highest discriminative power and ranking consistency on these data?",
)
def stability(
    panel: Panel,
    *,
    measures: Sequence[Named] | None = None,
    test: Test = "permutation",
    draws: int | None = None,
    trials: int = 1000,
    profile: str = "nlgauge",
    ranked_by: Named | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Table:
    """Rank the measures of agreement by discriminative power and ranking consistency on these data.

    Returns
    -------
    Table
        One row per measure, the most trustworthy first: DP and RC with intervals over metrics, and RC over
        halves of the systems where there are enough.

    Notes
    -----
    Discriminative power (DP) is the mean p over all pairs of metrics: lower means that the measure distinguishes
    metrics better. Ranking consistency (RC) is the mean tau-b between the rankings of the metrics on two halves of
    the inputs: higher is better. Measures are sorted by the mean of the two ranks.

    References
    ----------
    Gao et al. (2025), section 5.

    Examples
    --------
    $ nlgauge analyze stability scores.csv --aspect coherence
    """
    if len(panel.metrics) < 3:
        raise NeedsMissing(
            f"stability requires at least 3 metrics; found {len(panel.metrics)}.", code="too_few_metrics"
        )
    chosen, notes = defined_measures(panel, measures)
    stacked = panel.oriented()
    asked = PairTest(test, draws=draws, profile=profile, seed=seed)
    tests = run_test(stacked, panel.human, chosen, asked, progress, pairs_to_test(len(stacked), seed))
    power = discriminative_power(tests.p)
    consistency = ranking_consistency(stacked, panel.human, chosen, trials=trials, seed=seed)
    halves = [consistency]
    systems, inputs = panel.human.shape
    if systems >= SYSTEMS:
        halves.append(ranking_consistency(stacked, panel.human, chosen, over="systems", trials=trials, seed=seed))
    drawn = p_value_curve(tests.p)
    curves = {str(m): [round(float(p), 6) for p in drawn[:, j] if np.isfinite(p)] for j, m in enumerate(chosen)}
    rows = _rows(panel, chosen, tests, power, halves)
    for row, place in zip(rows, places(power, consistency.value), strict=True):
        row["place"] = place
    order = sorted(range(len(rows)), key=lambda j: (rows[j]["place"], rows[j]["measure"]))
    advice = advise(tests.p, tests.pairs, [c.by_pair for c in halves], order)
    for j, row in enumerate(rows):
        row["reliable"] = j in advice.steady
    in_use = None if ranked_by is None else str(ranked_by)
    recommendation = recommend(rows, advice, PanelSize(systems, inputs, len(panel.metrics)), in_use)
    rows = [rows[j] for j in order]
    return Table(
        title=Title(panel.name, f"discriminative power and ranking consistency of the measures on {panel.aspect}"),
        rows=rows,
        shown=["measure", *(column for column in HEADS if column in rows[0])],
        heads=HEADS,
        facts={"curves": curves, "reliable": bool(advice.steady), "alike": [str(chosen[j]) for j in advice.alike]},
        definitions={name: text for name, text in DEFINITIONS.items() if name != "RC systems" or halves[1:]},
        method=f"{_pairs_words(len(panel.metrics), len(tests.pairs))}; DP: {tests.method}. RC: {consistency.method}. "
        "Confidence intervals: jackknife over metrics, Student's t. Sorted by the mean of the two ranks.",
        answers=[recommendation],
        notes=[*notes, *human_note(panel)],
        signature=signature(panel, test=test, profile=profile, draws=tests.draws, trials=trials, seed=seed),
    )


def _pairs_words(metrics: int, tested: int) -> str:
    """State how many metrics and pairs were tested, and of how many pairs."""
    every = metrics * (metrics - 1) // 2
    of = "" if tested == every else f" of {every:,} (drawn at random)"
    return f"{metrics} metrics, {tested}{of} pairs"


def _rows(
    panel: Panel, measures: Sequence[Measure], tests: PairTests, power: Array, halves: Sequence[RankingConsistency]
) -> list[Row]:
    """Return DP and RC of each measure; `halves` are those of the inputs, and of the systems if there are enough."""
    consistency, ends = halves[0], over_metrics(tests.p, tests.pairs)
    spread = consistency.interval()
    return [
        {
            "measure": str(m),
            "aspect": panel.aspect,
            "dp": float(power[j]),
            "dp_low": max(0.0, float(ends.low[j])),
            "dp_high": min(1.0, float(ends.high[j])),
            "rc": float(consistency.value[j]),
            "rc_low": float(spread.low[j]),
            "rc_high": float(spread.high[j]),
            **({"rc_systems": float(halves[1].value[j])} if halves[1:] else {}),
            "pairs": int(np.isfinite(tests.p[:, j]).sum()),
        }
        for j, m in enumerate(measures)
    ]


def recommend(rows: list[Row], advice: Advice, about: PanelSize, ranked_by: str | None = None) -> str:
    """Recommend a measure, or state that none is reliable or the best, and compare it with the measure in use.

    `rows` in the order of the measures that `advice` numbers.
    """
    least = min(rows, key=lambda row: (row["place"], row["measure"]))
    if not advice.steady:
        text = (
            f"No measure is reliable on these data: even {least['measure']} has DP {_ends(least, 'DP')} and RC "
            f"{_ends(least, 'RC')}{about.of_systems(least)}. Collect more inputs (now {about.inputs:,}) and systems "
            "(now "
            f"{about.systems}), or compare metrics that differ more."
        )
    elif advice.one:
        best = rows[advice.alike[0]]
        text = (
            f"{about.where} {best['measure']} is best: DP {_ends(best, 'DP')}, RC {_ends(best, 'RC')}, both "
            "significantly better than "
            "those of every other measure."
        )
    else:
        alike = [rows[j] for j in advice.alike]
        best = alike[0]
        text = (
            f"{about.where} {best['measure']} is reliable (DP {_ends(best, 'DP')}, RC {_ends(best, 'RC')}) and "
            f"statistically indistinguishable from {some([r['measure'] for r in alike[1:]], 4)}"
        )
        if about.metrics < ENOUGH:
            text += f" (a single best measure requires {ENOUGH} metrics; found {about.metrics})"
        worse = [r["measure"] for j, r in enumerate(rows) if j not in advice.alike]
        text += f"; significantly worse: {some(worse, 4)}." if worse else "."
    names = [row["measure"] for row in rows]
    if ranked_by not in names:
        return text
    mine = names.index(ranked_by)
    if mine in advice.alike or mine in advice.steady:
        if advice.one and mine == advice.alike[0]:
            return f"{text} Metrics are ranked by it."
        return (
            f"{text} The measure in use, {ranked_by}, is {'one of them' if mine in advice.alike else 'reliable too'}."
        )
    return (
        f"{text} Metrics are still ranked by {ranked_by}, which matches the use of the report; it is not "
        f"reliable on these data (DP {number(rows[mine]['dp'])}, RC {number(rows[mine]['rc'])}), so rely on the "
        "confidence intervals."
    )


@dataclass(frozen=True)
class PanelSize:
    """Size of the data behind the recommendation."""

    systems: int
    inputs: int
    metrics: int

    @property
    def where(self) -> str:
        """State the scope of the recommendation: with few systems, these systems only."""
        return "On these data" if self.systems >= SYSTEMS or self.systems < 2 else f"On these {self.systems} systems"

    def of_systems(self, row: Row) -> str:
        """State the ranking consistency between halves of the systems, if it was computed."""
        return f", {number(row['rc_systems'])} between halves of the systems" if "rc_systems" in row else ""


def _ends(row: Row, what: str) -> str:
    return interval(*(row[f"{what.lower()}{end}"] for end in ("", "_low", "_high")))


def places(power: np.ndarray, consistency: np.ndarray) -> list[float]:
    """Return the mean of the ranks by DP (low first) and by RC (high first); undefined values rank last."""
    # Measures that differ by rounding only share a rank.
    known = (np.where(np.isnan(v), np.inf, v.round(12)) for v in (power, -consistency))
    by_power, by_consistency = (average_ranks(v) - 1 for v in known)
    return [float(x) for x in (by_power + by_consistency) / 2]
