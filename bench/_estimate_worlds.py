"""Populations whose truth is known, for the intervals of `nlgauge estimate`: rows with a rating of people and a judge's
score, of which few are labelled, at random, by cluster, by stratum or with known probabilities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench._estimate_exact import count_coverage
from nlgauge.analyses.estimates.estimate import MIN_VERDICTS
from nlgauge.datasets import load_set
from nlgauge.stats.estimation.means import MeanEstimate, Method, PartlyLabeled, mean_estimate
from nlgauge.stats.estimation.rogan_gladen import rogan_gladen
from nlgauge.stats.estimation.several_judges import cross_fitted
from nlgauge.stats.estimation.sparse_correlation import SparseCorrelation, sparse_correlation
from nlgauge.stats.estimation.systems import ErrorTransfer, compare_systems, left_out_systems, pool_means, transfer_test

Floats = NDArray[np.float64]
Row = dict[str, Any]
ROWS = 1000
CLUSTER = 3  # rows of one conversation
SIZES = (30, 100, 300)
PREVALENCES = (0.05, 0.2, 0.5, 0.8, 0.95)
RATING = "1 to 5"
KINDS = ("verdict", "number", RATING)
DESIGNS = ("random", "clusters", "strata", "probabilities")
# Recall of passes and of fails; distance of the two normal distributions of a judge's number; correlation of ratings.
JUDGES = {"poor": ((0.75, 0.55), 0.7, 0.3), "fair": ((0.85, 0.8), 1.5, 0.6), "good": ((0.95, 0.95), 3.0, 0.9)}
SCALE = (1.0, 5.0)  # of ratings; verdicts are between 0 and 1 anyway
AT_ONCE = 100  # data sets computed together: what fits in the cache
METHODS: tuple[Method, ...] = ("labels", "ppi", "ppi++", "judge")
NARROWER = tuple(round(1 - 0.02 * k, 2) for k in range(1, 26))  # .98 to .5 of the width
TRUTH = 3.0  # mean of the ratings from 1 to 5
LENIENCIES = (0.0, 0.05, 0.1, 0.25)  # toward the second system, of the range of the judge's scale
PROBES = (0, 5, 20, 50)  # labels of the second system; the first one has LABELED
LABELED, INPUTS = 120, 400


def people(rng: np.random.Generator, trials: int, p: float | None, shared: float) -> Floats:
    """Ratings from 1 to 5 (p None) or verdicts, alike within clusters where `shared` is above 0."""
    from scipy.special import ndtri

    latent = rng.standard_normal((trials, ROWS))
    if shared:
        common = rng.standard_normal((trials, -(-ROWS // CLUSTER)))
        latent = np.sqrt(shared) * np.repeat(common, CLUSTER, axis=1)[:, :ROWS] + np.sqrt(1 - shared) * latent
    found = np.clip(np.round(TRUTH + 1.1 * latent), 1, 5) if p is None else (latent < ndtri(p)).astype(float)
    return np.asarray(found)


def judged(rng: np.random.Generator, y: Floats, kind: str, judge: str) -> Floats:
    """The judge's verdict, its number between 0 and 1, or its rating, half a point too kind."""
    (passes, fails), apart, alike = JUDGES[judge]
    if kind == RATING:
        noise = 1.1 * np.sqrt(1 - alike**2) * rng.standard_normal(y.shape)
        return np.asarray(np.clip(np.round(TRUTH + 0.5 + alike * (y - TRUTH) + noise), 1, 5))
    if kind == "verdict":
        return np.where(y == 1, rng.random(y.shape) < passes, rng.random(y.shape) > fails).astype(float)
    return np.asarray(1 / (1 + np.exp(-(rng.standard_normal(y.shape) + apart * (y - 0.5) + 0.3))))


def drawn(rng: np.random.Generator, y: Floats, f: Floats, n: int, design: str) -> PartlyLabeled:
    """Labels of n rows; whole clusters, equal numbers of three strata by score, or doubtful rows more often."""
    trials = len(y)
    if design in ("random", "clusters"):
        held = np.broadcast_to(np.arange(ROWS) < n, y.shape)
        clusters = np.arange(ROWS) // CLUSTER if design == "clusters" else None
        return PartlyLabeled(np.where(held, y, np.nan), f, clusters=clusters, bounds=SCALE)
    if design == "strata":
        steps = np.sort(f + 1e-9 * rng.random(f.shape), axis=1)
        strata = (f[..., None] > steps[:, None, [ROWS // 3, 2 * ROWS // 3]]).sum(axis=-1)
        strata = np.where(len(np.unique(f)) < 3, (f > 0.5).astype(int), strata)
        held = np.zeros(y.shape, bool)
        count = int(strata.max()) + 1
        for code in range(count):
            mine = strata == code
            place = np.where(mine, rng.random(y.shape), 2.0).argsort(axis=1).argsort(axis=1)
            held |= mine & (place < n // count)
        return PartlyLabeled(np.where(held, y, np.nan), f, strata=strata, bounds=SCALE)
    spread = f.std(axis=1, keepdims=True)
    size = 0.3 + np.exp(-np.abs(f - f.mean(axis=1, keepdims=True)) / spread)
    probability = n * size / size.sum(axis=1, keepdims=True)
    ends = np.cumsum(probability, axis=1) + rng.random((trials, 1))
    held = np.floor(ends) > np.floor(ends - probability)
    return PartlyLabeled(np.where(held, y, np.nan), f, probability, bounds=SCALE)


def reach(found: MeanEstimate, truth: float) -> Floats:
    """How far the truth lies from the value, over the reach of the interval on that side: at most 1 where it holds."""
    off, side = (
        np.abs(truth - found.value),
        np.where(truth > found.value, found.high - found.value, found.value - found.low),
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(off <= side, np.where(off > 0, off / side, 0.0), np.maximum(off / side, 1 + 1e-9)))


def coverage(found: MeanEstimate, truth: float) -> float:
    return float((reach(found, truth) <= 1).mean())


def mean_coverage(n: int, p: float | None, kind: str, judge: str, design: str, trials: int) -> list[Row]:
    """Labels only, PPI and PPI++, and the judge alone."""
    rng = np.random.default_rng([n, round(100 * (p or 0)), KINDS.index(kind), len(judge), DESIGNS.index(design)])
    truth = TRUTH if p is None else p
    reached: dict[str, list[Floats]] = {m: [] for m in METHODS}
    width = dict.fromkeys(METHODS, 0.0)
    for _ in range(trials // AT_ONCE):
        y = people(rng, AT_ONCE, p, 0.3 if design == "clusters" else 0.0)
        sample = drawn(rng, y, judged(rng, y, kind, judge), n, design)
        for method in METHODS:
            found = mean_estimate(sample, method)
            reached[method].append(reach(found, truth))
            width[method] += float(np.mean(found.width)) * AT_ONCE / trials
    rows = []
    for m in METHODS:
        each = np.concatenate(reached[m])
        counted = m == "labels" and design == "random" and p is not None
        rows.append(
            {
                "n": n,
                "p": p,
                "kind": kind,
                "judge": judge,
                "design": design,
                "method": m,
                "coverage": count_coverage(n, truth) if counted else float((each <= 1).mean()),
                "narrowed": [float((each <= f).mean()) for f in NARROWER],
                "width": width[m] / width["labels"],
                "data sets": trials,
            }
        )
    return rows


def corrected_coverage(n: int, p: float, judge: str, trials: int) -> list[Row]:
    """Rogan and Gladen's estimate where each verdict has at least ten labels, as the tool asks."""
    rng = np.random.default_rng([n, round(100 * p), len(judge), 77])
    y = people(rng, trials, p, 0.0)
    f = judged(rng, y, "verdict", judge)
    z, x = y[:, :n], f[:, :n]
    passed = z.sum(axis=1)
    found = rogan_gladen(
        (f.sum(axis=1), ROWS), ((z * x).sum(axis=1), passed), (((1 - z) * (1 - x)).sum(axis=1), n - passed)
    )
    given = (passed >= MIN_VERDICTS) & (n - passed >= MIN_VERDICTS) & np.isfinite(found.value)
    held = (found.low <= p) & (p <= found.high)
    plain = mean_estimate(PartlyLabeled(np.where(np.arange(ROWS) < n, y, np.nan)), "labels")
    return [
        {
            "n": n,
            "p": p,
            "judge": judge,
            "given": float(given.mean()),
            "data sets": trials,
            "coverage": float(held[given].mean()) if given.any() else np.nan,
            "width": float((found.high - found.low)[given].mean() / plain.width[given].mean())
            if given.any()
            else np.nan,
        }
    ]


def several_coverage(n: int, p: float | None, trials: int) -> list[Row]:
    """Three judges as one prediction: a fair one, one whose errors are its own, and one that says nothing."""
    rng = np.random.default_rng([n, round(100 * (p or 0)), 78])
    y = people(rng, trials, p, 0.0)
    kind = RATING if p is None else "number"
    scores = [judged(rng, y, kind, "fair"), judged(rng, y, kind, "fair"), rng.random(y.shape)]
    labels = np.where(np.arange(ROWS) < n, y, np.nan)
    made = np.stack([cross_fitted(labels[t], np.column_stack([s[t] for s in scores])) for t in range(trials)])
    plain = mean_estimate(PartlyLabeled(labels, bounds=SCALE), "labels")
    rows = []
    for name, score in (("one judge", scores[0]), ("three judges", made)):
        found = mean_estimate(PartlyLabeled(labels, score, bounds=SCALE))
        rows.append(
            {
                "n": n,
                "p": p,
                "judges": name,
                "coverage": coverage(found, TRUTH if p is None else p),
                "width": float(np.mean(found.width) / np.mean(plain.width)),
                "data sets": trials,
            }
        )
    return rows


def systems_coverage(n: int, kind: str, trials: int, systems: int = 5) -> list[Row]:
    """Means, differences and ranks of systems that answer the same inputs, all at once."""
    from scipy.special import ndtr

    rng = np.random.default_rng([n, len(kind), 79])
    inputs = 400
    ability = np.linspace(0, 0.6, systems)
    sd = np.sqrt(0.98)
    above = [1 - ndtr((k - 0.5 - TRUTH - ability) / sd) for k in (2, 3, 4, 5)]
    truth = 1 + np.sum(above, axis=0) if kind == RATING else 1 - ndtr((0.8 - ability) / sd)
    held = np.zeros((trials, 3))
    for t in range(trials):
        latent = 0.7 * (rng.standard_normal(inputs) + rng.standard_normal((systems, inputs))) + ability[:, None]
        y = np.clip(np.round(TRUTH + latent), 1, 5) if kind == RATING else (latent > 0.8).astype(float)
        f = latent + 0.7 * rng.standard_normal(latent.shape)
        labels = np.where(np.arange(inputs) < n, y, np.nan)
        samples = [PartlyLabeled(labels[s], f[s], bounds=SCALE) for s in range(systems)]
        found = compare_systems(samples, [np.arange(inputs)] * systems)
        gaps = np.array([truth[i] - truth[j] for i, j in found.pairs])
        order = systems - np.arange(systems)
        held[t] = (
            all(e.low <= m <= e.high for e, m in zip(found.together, truth, strict=True)),
            ((found.low <= gaps) & (gaps <= found.high)).all(),
            ((found.best_rank <= order) & (order <= found.worst_rank)).all(),
        )
    means, differences, ranks = held.mean(axis=0).tolist()
    return [
        {
            "n": n,
            "ratings": kind,
            "all means": means,
            "all differences": differences,
            "all ranks": ranks,
            "data sets": trials,
        }
    ]


def transfer_coverage(probe: int, leniency: float, kind: str, trials: int) -> list[Row]:
    """Two equally good systems on the same inputs; the judge is more lenient toward the second one, which has few labels
    or none."""
    from scipy.stats import norm

    rng = np.random.default_rng([probe, round(100 * leniency), KINDS.index(kind), 81])
    rating = kind == RATING
    bounds, unit = (SCALE, 4.0) if rating else (None, 1.0)
    truth = 1 + norm.sf((np.arange(2, 6) - 1.5) / 4, 0.5, 0.2).sum() if rating else norm.sf(0.45, 0.5, 0.2)
    places = np.arange(INPUTS)
    held = np.stack([places < LABELED, (places >= LABELED // 2) & (places < LABELED // 2 + probe)])
    refused = bool(left_out_systems(held.sum(axis=1), np.full(2, INPUTS)).any())
    names = ("first", "second", "pooled", "before")
    covered, audits = {name: list[Floats]() for name in names}, list[ErrorTransfer]()
    for _ in range(trials // AT_ONCE):
        shared, own = rng.standard_normal((AT_ONCE, 1, INPUTS)), rng.standard_normal((AT_ONCE, 2, INPUTS))
        quality = 0.5 + 0.2 * np.sqrt(0.5) * (shared + own)
        score = quality + np.array([0, leniency])[:, None] + 0.1 * rng.standard_normal(quality.shape)
        y = np.clip(np.round(1 + 4 * quality), 1, 5) if rating else (quality > 0.45).astype(float)
        f = np.clip(1 + 4 * score, 1, 5) if rating else np.clip(score, 0, 1)
        f = (f > 0.45).astype(float) if kind == "verdict" else f
        labels = np.where(held, y, np.nan)
        flat = [a.reshape(AT_ONCE, -1) for a in (labels, f)]
        all_at_once = PartlyLabeled(*flat, clusters=np.tile(places, 2), bounds=bounds)
        samples = [PartlyLabeled(labels[:, k], f[:, k], bounds=bounds) for k in (0, 1)]
        found = {"first": mean_estimate(samples[0]), "before": mean_estimate(all_at_once)}
        if not refused:
            found["second"] = mean_estimate(samples[1])
            one, two = (found[name].influence for name in ("first", "second"))
            r = (one * two).sum(axis=-1) / np.sqrt((one**2).sum(axis=-1) * (two**2).sum(axis=-1))
            correlation = np.eye(2) + r[:, None, None] * (1 - np.eye(2))
            found["pooled"] = pool_means([found["first"], found["second"]], np.array([0.5, 0.5]), correlation)
            audits.append(transfer_test(*samples, margin=0.05 * unit))
        for name, e in found.items():
            covered[name].append((e.low <= truth) & (truth <= e.high))
    outcomes, differences = (np.concatenate([getattr(a, k) for a in audits] or [[]]) for k in ("outcome", "difference"))
    return [
        {
            "probe": probe,
            "leniency": leniency,
            "kind": kind,
            "refused": refused,
            "data sets": trials,
            **{name: float(np.concatenate(covered[name]).mean()) if covered[name] else None for name in names},
            "difference": float(differences.mean()) if len(differences) else None,
            **{
                o: float((outcomes == o).mean()) if len(outcomes) else None
                for o in ("transfers", "does not transfer", "undecided")
            },
        }
    ]


def true_correlations(rho: float, ratings: bool) -> dict[str, float]:
    """Of a normal score with a normal quality, or with the rating from 1 to 5 that people make of it."""
    if not ratings:
        spearman, kendall = 6 / np.pi * np.arcsin(rho / 2), 2 / np.pi * np.arcsin(rho)
        return {"pearson": rho, "spearman": spearman, "kendall": kendall}
    from scipy import stats

    rng = np.random.default_rng(5)
    quality = rng.standard_normal(400_000)
    score = rho * quality + np.sqrt(1 - rho**2) * rng.standard_normal(len(quality))
    y = np.clip(np.round(TRUTH + 1.1 * quality), 1, 5)
    tests = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    return {name: float(test(score, y)[0]) for name, test in tests.items()}


def correlation_coverage(n: int, rho: float, ratings: bool, design: str, trials: int) -> list[Row]:
    """Correlations over all rows from few labels: with the metric's scores of the others, and from the labels alone."""
    rng = np.random.default_rng([n, round(100 * rho), ratings, DESIGNS.index(design), 80])
    truth = true_correlations(rho, ratings)
    found: dict[str, list[SparseCorrelation]] = {c: [] for c in truth}
    for _ in range(trials // AT_ONCE):
        quality = rng.standard_normal((AT_ONCE, ROWS))
        score = rho * quality + np.sqrt(1 - rho**2) * rng.standard_normal(quality.shape)
        y = np.clip(np.round(TRUTH + 1.1 * quality), 1, 5) if ratings else quality
        sample = drawn(rng, y, score, n, design)
        for t in range(AT_ONCE):
            design_of = {k: None if (v := getattr(sample, k)) is None else v[t] for k in ("probability", "strata")}
            mine = PartlyLabeled(sample.labels[t], score[t], **design_of)
            for c in truth:
                found[c].append(sparse_correlation(mine, c))  # type: ignore[arg-type]
    rows = []
    for c, each in found.items():
        value, low, high, _, plain_low, plain_high = np.array([list(vars(e).values()) for e in each]).T
        rows.append(
            {
                "n": n,
                "true": truth[c],
                "ratings": ratings,
                "design": design,
                "coefficient": c,
                "coverage": float(((low <= truth[c]) & (truth[c] <= high)).mean()),
                "bias": float(value.mean() - truth[c]),
                "plain": float(((plain_low <= truth[c]) & (truth[c] <= plain_high)).mean()),
                "width": float((high - low).mean() / (plain_high - plain_low).mean()),
                "data sets": trials,
            }
        )
    return rows


def summeval_coverage(n: int, judge: tuple[str, str], aspect: str, trials: int) -> list[Row]:
    """Rows drawn from SummEval with replacement, n of them labelled, a real judge's replies on all: ratings, and pass
    from 4 up."""
    import gzip
    import json
    import os
    from pathlib import Path

    import polars as pl

    ratings = load_set("summeval").ratings.filter(pl.col("aspect") == aspect)
    people = {(s, i): v for s, i, v in ratings.group_by("system", "input").agg(pl.col("value").mean()).iter_rows()}
    pairs = []
    replies = Path(os.environ["NLGAUGE_DATA"]) / "summeval" / "summeval_llm_judge_responses.jsonl.gz"
    with gzip.open(replies, "rt", encoding="utf-8") as lines:
        for reply in map(json.loads, lines):
            key = reply["system"], reply["id"]
            mine = (reply["evaluator"], reply["method"], reply["aspect"]) == (*judge, aspect)
            if mine and key in people and reply["score_parsed_here"] is not None:
                pairs.append((people[key], float(reply["score_parsed_here"])))
    population = np.array(pairs)
    rng = np.random.default_rng([n, len(aspect), len(judge[0])])
    rows = []
    for scale in ("ratings", "pass from 4"):
        y, f = population.T
        y = (y >= 4).astype(float) if scale != "ratings" else y
        truth = float(y.mean())
        held, width = dict.fromkeys(METHODS, 0.0), dict.fromkeys(METHODS, 0.0)
        for _ in range(trials // AT_ONCE):
            at = rng.integers(0, len(y), (AT_ONCE, ROWS))
            sample = PartlyLabeled(np.where(np.arange(ROWS) < n, y[at], np.nan), f[at], bounds=SCALE)
            for method in METHODS:
                found = mean_estimate(sample, method)
                held[method] += coverage(found, truth) * AT_ONCE / trials
                width[method] += float(np.mean(found.width)) * AT_ONCE / trials
        row: Row = {
            "n": n,
            "judge": judge[0],
            "aspect": aspect,
            "scale": scale,
            "true": truth,
            **{m: held[m] for m in METHODS[:3]},
            "judge alone": held["judge"],
            "width": width["ppi++"] / width["labels"],
            "data sets": trials,
            "correlation": float(np.corrcoef(y, f)[0, 1]),
        }
        rows.append(row)
    return rows
