"""How often each interval of the analyses of verdicts holds the population's value. One function a kind of figure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri
from scipy.stats import binom

from nlgauge.stats.agreement.curves import area_figures, average_precision, cheapest, halves, roc_area, sweep
from nlgauge.stats.agreement.proportion import melded_interval, proportion_interval
from nlgauge.stats.agreement.reliability import BINS, calibration_figures
from nlgauge.stats.agreement.two_by_two import (
    SHARES,
    Figure,
    balanced_accuracy,
    cell_counts,
    f1_of_jaccard,
    figure_of,
    figures_of,
    gain,
    kappa,
    mcc,
    share_figures,
    youden,
)
from nlgauge.stats.agreement.verdict_changes import (
    balanced_accuracy_deviations,
    compare_judges,
    compare_with_baseline,
    roc_area_deviations,
)
from nlgauge.stats.correlation.uses import badge_of
from nlgauge.stats.tests.corrections import benjamini_hochberg
from nlgauge.stats.tests.two_shares import fisher_exact_test

Row = dict[str, Any]
# Share of people's fails that the judge fails, and of people's passes that it passes.
JUDGES = {"lenient": (0.6, 0.95), "good": (0.9, 0.9), "weak": (0.6, 0.6)}
PREVALENCES = (0.02, 0.1, 0.5, 0.9, 0.98)
SIZES = (20, 50, 100, 300, 2000)
WHOLE = 100_000_000.0  # rows of a population


def cells_of(prevalence: float, fails: float, passes: float) -> np.ndarray:
    """Probabilities of the four cells: people pass `prevalence` of the rows."""
    bad = 1 - prevalence
    return np.array([bad * fails, bad * (1 - fails), prevalence * (1 - passes), prevalence * passes])


def true_values(cells: np.ndarray) -> dict[str, float]:
    """Every figure in the population."""
    found = {name: float(share.value(cells)) for name, share in SHARES.items()}
    found |= {f"{v}_f1": float(f1_of_jaccard(np.array(found.pop(f"{v}_jaccard")))) for v in ("fail", "pass")}
    found |= {
        "balanced_accuracy": float(balanced_accuracy(cells)),
        "youden": float(youden(cells)),
        "kappa": float(kappa(cells)),
        "mcc": float(mcc(cells)),
    }
    return found | {f"gain_over_always_{v}": float(gain(cells, v)) for v in ("pass", "fail")}


def rarer(row: Row) -> float:
    """Expected rows of the rarer outcome behind a figure: what makes counts coarse."""
    cells = row["n"] * cells_of(row["prevalence"], *JUDGES[row["judge"]])
    name = row["figure"].replace("_f1", "_jaccard")
    if share := SHARES.get(name):
        hits = float(share.over(cells))
        return min(hits, float(share.below(cells)) - hits)
    return float(min(cells[0], cells[2]) if name.startswith("gain") else cells.min())


class Tally:
    """Counts of data sets in which an interval was given, and in which it held the value."""

    def __init__(self) -> None:
        self.counts: dict[str, list[int]] = {}

    def add(self, name: str, figure: Figure, true: float, times: int = 1) -> None:
        at = self.counts.setdefault(name, [0, 0])
        if np.isfinite(figure.low):
            at[0] += times
            at[1] += times * bool(figure.low - 1e-12 <= true <= figure.high + 1e-12)

    def rows(self, trials: int, **facts: object) -> list[Row]:
        return [
            {
                "figure": name,
                **facts,
                "given": given / trials,
                "coverage": held / given if given else float("nan"),
                "wrong": (given - held) / trials,
                "data sets": trials,
            }
            for name, (given, held) in self.counts.items()
        ]


def verdict_coverage(n: int, prevalence: float, judge: str, trials: int, seed: int = 31) -> list[Row]:
    """Independent rows."""
    cells = cells_of(prevalence, *JUDGES[judge])
    true = true_values(cells)
    rng = np.random.default_rng([seed, n, round(100 * prevalence), list(JUDGES).index(judge)])
    tally = Tally()
    tables, times = np.unique(rng.multinomial(n, cells, trials), axis=0, return_counts=True)
    for table, many in zip(tables, times, strict=True):
        for name, figure in figures_of(table[None].astype(float)).items():
            if name != "gain_over_always_fail":  # given where people happen to fail more than half
                tally.add(name, figure, true[name], int(many))
    return tally.rows(trials, n=n, prevalence=prevalence, judge=judge)


def clustered_coverage(
    clusters: int, prevalence: float, judge: str, trials: int, alike: float = 0.3, seed: int = 32
) -> list[Row]:
    """Conversations of 1 to 8 rows; people's verdicts and the judge's errors are alike within one (correlation
    `alike`).
    Beside: the share of data sets in which intervals that take rows as independent hold."""
    fails, passes = JUDGES[judge]
    true = true_values(cells_of(prevalence, fails, passes))
    rng = np.random.default_rng([seed, clusters, round(100 * prevalence), list(JUDGES).index(judge)])
    tally, plain = Tally(), Tally()
    more = 1 / alike - 1
    for _ in range(trials):
        code = np.repeat(np.arange(clusters), rng.integers(1, 9, clusters))
        rates = [rng.beta(more * p, more * (1 - p), clusters)[code] for p in (prevalence, fails, passes)]
        people = rng.random(len(code)) < rates[0]
        judged = rng.random(len(code)) < np.where(people, rates[2], 1 - rates[1])
        counts = cell_counts(people, judged, code.tolist())
        found = figures_of(counts, clustered=True)
        beside = figures_of(counts.sum(axis=0)[None])
        for name, figure in found.items():
            if name != "gain_over_always_fail":
                tally.add(name, figure, true[name])
                if np.isfinite(figure.low):
                    plain.add(name, beside[name], true[name])
    rows = tally.rows(trials, n=clusters, prevalence=prevalence, judge=judge)
    before = {row["figure"]: row["coverage"] for row in plain.rows(trials)}
    return [{**row, "as independent": before.get(row["figure"], float("nan"))} for row in rows]


def scores(
    n: int, prevalence: float, apart: float, spread: float, steps: bool, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """A judge's numbers: normal, those of fails lower by `apart`; in five steps or not."""
    passed = rng.random(n) < prevalence
    x = np.where(passed, rng.normal(0, 1, n), rng.normal(-apart, spread, n))
    return (np.searchsorted([-1.5, -0.9, -0.3, 0.3], x).astype(float) if steps else x), passed


def area_coverage(
    n: int, prevalence: float, apart: float, spread: float, steps: bool, trials: int, seed: int = 33
) -> list[Row]:
    """ROC area and average precision."""
    rng = np.random.default_rng([seed, n, round(100 * prevalence), round(10 * apart), int(steps)])
    x, z = scores(1_000_000, prevalence, apart, spread, steps, rng)
    ranked = np.sort(x[~z])
    above = (np.searchsorted(ranked, x[z], "left") + np.searchsorted(ranked, x[z], "right")) / 2 / len(ranked)
    true = {"roc_area": float(above.mean()), "average_precision": average_precision(x, z)}
    tally = Tally()
    for _ in range(trials):
        x, z = scores(n, prevalence, apart, spread, steps, rng)
        for name, figure in area_figures(x, z).items():
            tally.add(name, figure, true[name])
    kind = f"apart {apart:g}{', five steps' if steps else ''}{', fails spread more' if spread > 1 else ''}"
    return tally.rows(trials, n=n, prevalence=prevalence, judge=kind)


# Sureness of the rows (concentration of a beta), and slope and shift of the judge's logit beside the right one.
CALIBRATIONS = {"right": (1, 1, 0), "too sure": (2, 2, 0), "too mild": (1, 0.5, 0), "too kind": (3, 1, 1)}


def calibration_coverage(n: int, prevalence: float, kind: str, trials: int, seed: int = 34) -> list[Row]:
    """Brier's score and ECE."""
    sure, slope, shift = CALIBRATIONS[kind]
    rng = np.random.default_rng([seed, n, round(100 * prevalence), list(CALIBRATIONS).index(kind)])

    def draw(rows: int) -> tuple[np.ndarray, np.ndarray]:
        right = np.clip(rng.beta(prevalence * sure, (1 - prevalence) * sure, rows), 1e-6, 1 - 1e-6)
        return expit(slope * logit(right) + shift), right

    x, right = draw(1_000_000)
    place = np.clip(np.ceil(x * BINS) - 1, 0, BINS - 1).astype(int)
    true = {
        "brier": float((right * (1 - x) ** 2 + (1 - right) * x**2).mean()),
        "ece": float(np.abs(np.bincount(place, weights=right - x)).sum() / len(x)),
    }
    tally = Tally()
    for _ in range(trials):
        x, right = draw(n)
        found = calibration_figures(x, rng.random(n) < right)
        for name, value in true.items():
            tally.add(name, found[name], value)
    return tally.rows(trials, n=n, prevalence=prevalence, judge=kind)


def threshold_honesty(n: int, prevalence: float, trials: int, apart: float = 1.2, seed: int = 35) -> list[Row]:
    """Shares at the chosen threshold: on the other half, and on the half that chose it (which flatters)."""
    rng = np.random.default_rng([seed, n, round(100 * prevalence)])
    tally = Tally()
    for trial in range(trials):
        x, z = scores(n, prevalence, apart, 1.0, False, rng)
        first = halves(z, None, trial)
        swept = sweep(x[first], z[first])
        cut = float(swept.thresholds[cheapest(swept)])
        agreed = prevalence * ndtr(-cut) + (1 - prevalence) * ndtr(cut + apart)
        for name, part in (("other half", ~first), ("same half", first)):
            hits = int(((x[part] >= cut) == z[part]).sum())
            low, high = proportion_interval(hits, int(part.sum()))
            tally.add(name, Figure(hits / part.sum(), float(low), float(high)), float(agreed))
    return tally.rows(trials, n=n, prevalence=prevalence, judge=f"apart {apart:g}")


def slice_discoveries(n: int, slices: int, bad: int, trials: int, seed: int = 36) -> Row:
    """Slices of equal size, `bad` of them with agreement .6 instead of .85: false discoveries, and how many are found."""
    rng = np.random.default_rng([seed, n, slices, bad])
    shares, found, any_false = [], 0, 0
    for _ in range(trials):
        of = rng.multinomial(n, np.full(slices, 1 / slices))
        hits = rng.binomial(of, np.where(np.arange(slices) < bad, 0.6, 0.85))
        p = [
            fisher_exact_test(int(h), int(k), int(hits.sum() - h), int(of.sum() - k))
            for h, k in zip(hits, of, strict=True)
        ]
        worse = hits / of < (hits.sum() - hits) / (of.sum() - of)
        marked = (benjamini_hochberg(p) < 0.05) & worse
        wrong = int(marked[bad:].sum())
        shares.append(wrong / max(1, int(marked.sum())))
        any_false += wrong > 0
        found += int(marked[:bad].sum())
    return {
        "n": n,
        "slices": slices,
        "bad slices": bad,
        "false share of the marks": float(np.mean(shares)),
        "any false mark": any_false / trials,
        "bad slices found": found / (trials * bad) if bad else float("nan"),
        "data sets": trials,
    }


GRID = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)  # true recalls


def few_failures_exact(failures: int, passes: int) -> list[Row]:
    """Compute the lowest coverage of recall on failures and of Youden's J over all true recalls of GRID, exactly."""
    hits, right = np.arange(failures + 1), np.arange(passes + 1)
    low, high = proportion_interval(hits, failures)
    held = [binom.pmf(hits, failures, r)[(low <= r + 1e-12) & (r - 1e-12 <= high)].sum() for r in GRID]
    ends = np.array(
        [[melded_interval([(a, failures), (b, passes)], lambda f, p: f + p - 1) for b in right] for a in hits]
    )
    both = []
    for recall in GRID:
        for other in GRID:
            chance = np.outer(binom.pmf(hits, failures, recall), binom.pmf(right, passes, other))
            j = recall + other - 1
            both.append(chance[(ends[..., 0] <= j + 1e-12) & (j - 1e-12 <= ends[..., 1])].sum())
    facts = {"failures": failures, "passes": passes, "systems": 1}
    return [
        {"figure": "fail_recall", **facts, "coverage": float(min(held)), "data sets": "exact"},
        {"figure": "youden", **facts, "coverage": float(min(both)), "data sets": "exact"},
    ]


def few_failures_area(failures: int, passes: int, trials: int, seed: int = 137) -> list[Row]:
    """Compute the lowest coverage of the ROC area over shapes of scores; the numbers of failures and passes are fixed."""
    rng = np.random.default_rng([seed, failures, passes])
    z = np.arange(failures + passes) >= failures
    held = []
    for apart, spread, cuts in AREA_SHAPES:
        many = [rng.normal(0, 1, 400_000), rng.normal(-apart, spread, 400_000)]
        good, bad = (np.searchsorted(cuts, x) if cuts else x for x in many)
        true = roc_area(np.concatenate([bad, good]), np.arange(800_000) >= 400_000)
        inside = 0
        for _ in range(trials):
            x = np.where(z, rng.normal(0, 1, len(z)), rng.normal(-apart, spread, len(z)))
            figure = area_figures(np.searchsorted(cuts, x) if cuts else x, z)["roc_area"]
            inside += bool(figure.low <= true <= figure.high)
        held.append(inside / trials)
    return [
        {
            "figure": "roc_area",
            "failures": failures,
            "passes": passes,
            "systems": 1,
            "coverage": min(held),
            "data sets": trials,
        }
    ]


# Distance of failures from passes, spread of the failures, and cuts of a coarse scale.
AREA_SHAPES: list[tuple[float, float, list[float]]] = [
    (0.0, 1.0, []), (1.2, 1.0, []), (2.4, 1.0, []), (1.5, 1.6, []), (0.5, 0.5, []), (1.2, 1.0, [-1.5, -0.9, -0.3, 0.3]),
    (2.4, 1.0, [-2.0, -1.2]), (1.0, 1.6, [-1.0]),
]  # fmt: skip


def few_failures_clustered(systems: int, trials: int, seed: int = 38) -> list[Row]:
    """Compute coverage by the number of failures where the outputs of several systems for one input are alike."""
    rng = np.random.default_rng([seed, systems])
    tallies: dict[int, Tally] = {}
    for inputs, share in ((40, 0.1), (40, 0.2), (80, 0.1)):
        for fails, passes in ((0.6, 0.95), (0.9, 0.9), (0.3, 0.7), (0.1, 0.9)):
            for _ in range(trials):
                code = np.repeat(np.arange(inputs), systems)
                mixed = [
                    np.sqrt(0.4) * rng.normal(size=inputs)[code] + np.sqrt(0.6) * rng.normal(size=len(code))
                    for _ in range(3)
                ]
                z = mixed[0] > ndtri(share)
                x = np.where(z, mixed[1] < ndtri(passes), mixed[2] > ndtri(fails))
                score = np.where(z, mixed[1], mixed[2] - 1.2)
                counts = cell_counts(z, x, code.tolist())
                failures = int((~z).sum())
                if failures < 5:
                    continue
                tally = tallies.setdefault(max(k for k in (5, 8, 10, 15, 20) if k <= failures), Tally())
                shares = share_figures(counts, clustered=True)
                tally.add("fail_recall", shares["fail_recall"], fails)
                tally.add("youden", figure_of(counts, "youden", clustered=True), fails + passes - 1)
                area = area_figures(score, z, code.tolist())["roc_area"]
                tally.add("roc_area", area, float(ndtr(1.2 / np.sqrt(2))))
    return [
        {
            "figure": row["figure"],
            "failures": least,
            "passes": "",
            "systems": systems,
            "coverage": row["coverage"],
            "data sets": tally.counts[row["figure"]][0],
        }
        for least, tally in sorted(tallies.items())
        for row in tally.rows(1)
    ]


# Recalls on failures and on passes of two judges of equal balanced accuracy, and the correlation of their errors.
PAIRS = {
    "trade-off, independent": ((0.5, 0.9), (0.8, 0.6), 0.0),
    "trade-off, correlated": ((0.3, 0.98), (0.6, 0.68), 0.5),
    "coins 0.9 and 0.5": ((0.1, 0.9), (0.5, 0.5), 0.0),
    "constant and coin 0.9": ((0.0, 1.0), (0.1, 0.9), 0.0),
    "equal, independent": ((0.6, 0.95), (0.6, 0.95), 0.0),
    "equal, correlated": ((0.6, 0.95), (0.6, 0.95), 0.6),
    "equal, nearly identical": ((0.9, 0.9), (0.9, 0.9), 0.9),
}
# Distance of failures from passes in the scores of two judges with equal ROC area, correlation, cuts of a coarse scale.
SCORE_PAIRS: dict[str, tuple[float, float, list[float]]] = {
    "scores, no information": (0.0, 0.0, []),
    "scores, correlated": (1.2, 0.5, []),
    "scores, nearly identical": (1.2, 0.95, []),
    "scores, five steps": (1.2, 0.7, [-1.5, -0.9, -0.3, 0.3]),
}


def comparison_size(n: int, share: float, pair: str, trials: int, systems: int = 1, seed: int = 39) -> Row:
    """Compute how often two equally good judges differ significantly at 5%, by balanced accuracy or by ROC area.

    With several systems, n rows are outputs for n / systems inputs, and labels and errors are alike within an input.
    """
    names = [*PAIRS, *SCORE_PAIRS]
    rng = np.random.default_rng([seed, n, round(100 * share), names.index(pair), systems])
    code = np.arange(n) // systems
    rejected, by_few, given, few = 0, 0, 0, 0

    def normals(rho: float) -> np.ndarray:
        one, two = rng.normal(size=n), rng.normal(size=n)
        if systems > 1:
            both = rng.normal(size=(2, n))[:, code]
            one, two = (np.sqrt(0.3) * b + np.sqrt(0.7) * x for b, x in zip(both, (one, two), strict=True))
        return np.stack([one, rho * one + np.sqrt(1 - rho**2) * two])

    for _ in range(trials):
        z = normals(0.0)[0] > ndtri(share)
        if pair in PAIRS:
            first, second, rho = PAIRS[pair]
            rates = np.array([np.where(z, p, f) for f, p in (first, second)])
            right = normals(rho) < ndtri(rates)
            made = balanced_accuracy_deviations(z, right == z, code.tolist() if systems > 1 else None)
        else:
            apart, rho, cuts = SCORE_PAIRS[pair]
            x = normals(rho) - apart * ~z
            made = roc_area_deviations(
                z, np.searchsorted(cuts, x) if cuts else x, code.tolist() if systems > 1 else None
            )
        p = compare_judges(made, 0, 1).p
        if np.isfinite(p):
            given += 1
            rejected += p < 0.05
            if (~z).sum() < 10:
                few += 1
                by_few += p < 0.05
    return {
        "pair": pair,
        "n": n,
        "failures": share,
        "systems": systems,
        "size": rejected / given if given else float("nan"),
        "tested": given / trials,
        "size, 5 to 9 failures": by_few / few if few >= 200 else float("nan"),
        "data sets": trials,
    }


def baseline_advantage(n: int, share: float, judge: float, length: float, trials: int, seed: int = 40) -> Row:
    """Compute how often a judge's ROC area is shown to exceed that of output length, and the coverage of the interval.

    `judge`, `length`: distance of failures from passes in the scores and in the lengths.
    """
    rng = np.random.default_rng([seed, n, round(100 * share), round(10 * judge), round(10 * length)])
    true = ndtr(judge / np.sqrt(2)) - ndtr(length / np.sqrt(2))
    above, held, given = 0, 0, 0
    for _ in range(trials):
        z = rng.random(n) >= share
        found = compare_with_baseline(z, rng.normal(size=n) - judge * ~z, rng.normal(size=n) - length * ~z)
        if np.isfinite(found.low):
            given += 1
            above += found.low > max(true, 0)
            held += found.low <= true <= found.high
    return {
        "n": n,
        "failures": share,
        "judge": float(ndtr(judge / np.sqrt(2))),
        "length": float(ndtr(length / np.sqrt(2))),
        "coverage": held / given,
        "low above the truth": above / given,
        "data sets": given,
    }


BADGE_JUDGES = ("coin 0.5", "coin 0.7", "coin 0.9", "coin 0.95", "constant pass", "constant fail", "length")
LIMITS = (0.6, 0.75)


def badge_errors(n: int, share: float, judge: str, trials: int, seed: int = 41) -> Row:
    """Compute how often a judge that ignores quality earns "reliable" for a rate."""
    rng = np.random.default_rng([seed, n, round(100 * share), BADGE_JUDGES.index(judge)])
    rate = {"constant pass": 1.0, "constant fail": 0.0}.get(judge) if not judge.startswith("coin") else float(judge[5:])
    tables = []
    for _ in range(trials):
        z = rng.random(n) >= share
        length = rng.lognormal(size=n)
        x = rng.random(n) < rate if rate is not None else length >= np.quantile(length, 0.3)
        tables.append(cell_counts(z, x)[0])
    earned = dict.fromkeys([(rate_of, limit) for rate_of in ("fail_recall", "pass_recall") for limit in LIMITS], 0)
    found, times = np.unique(tables, axis=0, return_counts=True)
    for table, many in zip(found, times, strict=True):
        j, shares = figure_of(table[None], "youden"), share_figures(table[None])
        for rate_of, limit in earned:
            figure = shares[rate_of]
            earned[rate_of, limit] += many * (badge_of(figure.low, figure.high, limit, j.low, j.high) == "reliable")
    return {
        "judge": judge,
        "n": n,
        "failures": share,
        **{f"{rate_of}, limit {limit:g}": count / trials for (rate_of, limit), count in earned.items()},
        "data sets": trials,
    }


Cell = tuple[str, Callable[[], list[Row]]]
