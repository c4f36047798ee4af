"""Sampling of outputs to label next, with known probabilities, for an estimate, a threshold or a ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.labels import PROBABILITY, ROUND, STRATUM
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.options import option
from nlgauge.stats.agreement.curves import cheapest, sweep
from nlgauge.stats.design import label_sampling as sampling
from nlgauge.stats.estimation.several_judges import LABELS_PER_JUDGE, cross_fitted
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array, Ints

Goal = Literal["estimate", "agreement", "ranking", "threshold"]
How = Literal["random", "stratified", "disagreement", "optimal", "diverse"]
# Chosen on SummEval and evaluated on the other sets in docs/labels_saved.md; an estimate with LEAST_AIMED labels or
# more continues with 'optimal'.
DEFAULT: dict[Goal, How] = {
    "estimate": "stratified",
    "agreement": "optimal",
    "ranking": "optimal",
    "threshold": "optimal",
}
LEAST_LEARNED = 30  # labels that the estimation of SDs requires
LEAST_AIMED = 60  # labels from which on a draw for an estimate is optimal by default
SMALL_SAVING = 0.1  # share of labels saved below which random sampling is recommended
INTEREST_WIDTH = 0.15  # distance from a threshold, in ranks (0 to 1), at which the weight falls to 1/e
TYPICAL = 0.4  # correlation with human ratings for which a draw for agreement is optimal
HASH_COLUMNS = 512  # of hashed word counts
WHAT = {
    "random": "every output with the same probability",
    "stratified": "allocated to systems by their outputs (and SD, if labels estimate it), in equal "
    "steps of the judge's score",
    "disagreement": "outputs on which metrics disagree are more probable",
    "optimal": "informative outputs are more probable",
    "diverse": "in equal steps through outputs ordered by similarity",
}


@dataclass(frozen=True)
class Population:
    """Outputs that may be drawn, with their scores and labels. Arrays cover all outputs."""

    keys: pl.DataFrame
    texts: list[str]
    scores: Array  # metrics × outputs, higher is better
    labels: Array  # NaN without a label
    free: Array  # may be drawn
    draw: int  # number of this draw
    system: Ints
    unit: Ints
    notes: list[str]

    @property
    def learned(self) -> bool:
        """Return whether there are enough labels to learn the judge's error from."""
        return int(np.isfinite(self.labels).sum()) >= LEAST_LEARNED

    def judge(self) -> Array:
        """Return a score of each output: fitted to the labels if there are enough, else the mean relative rank."""
        if not len(self.scores):
            return np.zeros(len(self.labels))
        ranks = np.nan_to_num(sampling.relative_ranks(self.scores), nan=0.5)
        if self.learned and np.isfinite(self.labels).sum() >= LABELS_PER_JUDGE * len(ranks):
            return cross_fitted(self.labels, ranks.T)
        return np.asarray(ranks.mean(axis=0))


def next_labels(
    data: Dataset,
    budget: int,
    *,
    goal: Goal = "estimate",
    how: How | None = None,
    cut: float | None = None,
    seed: int = 0,
    keep_human: bool = False,
) -> Table:
    """Draw `budget` outputs without a label, with their sampling probabilities."""
    for word, known in ((goal, get_args(Goal)), (how, (None, *get_args(How)))):
        if word not in known:
            raise NameUnknown(f"no '{word}'; use {', '.join(k for k in known if k)}.")
    people = population(data, keep_human)
    free = np.flatnonzero(people.free)
    if not 1 <= budget <= len(free):
        raise NlgaugeError(
            f"{data.name}: {option('budget')} must be between 1 and {len(free):,}, the number of outputs without a "
            f"label; got {budget}."
            if len(free)
            else f"{data.name}: all outputs have a label; there is none to draw."
        )
    aimed = goal == "estimate" and len(people.scores) and np.isfinite(people.labels).sum() >= LEAST_AIMED
    blind = goal == "threshold" and cut is None and _best_cut(people, people.judge()) is None
    design = how or ("optimal" if aimed else "stratified" if blind else DEFAULT[goal])
    cut = (
        -cut if cut is not None and data.lower.issuperset(data.metrics) else cut
    )  # scores are oriented: higher is better
    found, said = draw_rows(people, free, budget, goal, design, cut, np.random.default_rng([seed, people.draw]))
    rows = [_row(people, int(free[at]), float(found.probability[at]), int(found.stratum[at])) for at in found.rows]
    if blind and not how:
        said += f" (the threshold is unknown: set {option('cut')}, or give 30 labels of pass and fail to estimate it)"
    saved = _saved(people, budget, design) if goal == "estimate" else None
    first = "" if people.draw == 1 else f" (draw {people.draw}; {len(people.keys) - len(free):,} are labeled)"
    return Table(
        title=Title(data.name, f"{len(rows)} outputs to label next, of {len(free):,} without a label{first}"),
        rows=rows,
        kind="next",
        shown=["system", "input", PROBABILITY],
        heads={PROBABILITY: "probability"},
        method=f"for {goal}, {design}: {said}; seed {seed}. Keep the column '{PROBABILITY}' with the labels: an "
        "estimate weights labels by its inverse.",
        answers=[_saved_words(people, saved)] if saved else [],
        notes=people.notes,
        facts={
            "goal": goal,
            "how": design,
            "outputs": len(people.keys),
            "free": len(free),
            "draw": people.draw,
            **(dict(zip(("saved", "saved_low", "saved_high"), saved, strict=True)) if saved else {}),
        },
    )


def _saved(people: Population, budget: int, how: How) -> tuple[float, float, float] | None:
    """Estimate the share of labels that the judge (and strata) save, from the labels so far: the variance of the human
    ratings that they explain, without the outputs that will be labeled."""
    if not people.learned or not len(people.scores):
        return None
    systems, count = len(np.unique(people.system)), int(np.isfinite(people.labels).sum())
    strata = people.system if how in ("stratified", "optimal") and systems > 1 and budget >= 3 * systems else None
    found = sampling.explained(people.judge(), people.labels, strata)
    left = 1 - (count + budget) / len(people.labels)
    return (found[0] * left, found[1] * left, found[2] * left) if np.isfinite(found[0]) else None


def _saved_words(people: Population, saved: tuple[float, float, float]) -> str:
    value, low, high = (f"{100 * share:.0f}" for share in saved)
    count = int(np.isfinite(people.labels).sum())
    said = (
        f"Estimated from {count} labels, this design saves {value}% [{low}%, {high}%] of the labels of random sampling "
        "without a judge, for a confidence interval of the same width"
    )
    if saved[2] < SMALL_SAVING:
        return f"{said}: random sampling is nearly as efficient."
    return f"{said}{' (it may save none)' if round(100 * saved[1]) < 1 else ''}."


def population(data: Dataset, keep_human: bool = False) -> Population:
    """Collect all outputs with scores, labels and texts, sorted by name so that the order of the file has no "
    "influence."""
    left = [] if keep_human else sorted(data.human_systems)
    samples = data.samples.filter(~pl.col("system").is_in(left)).sort(KEY)
    keys = samples.select(KEY)
    aspect = data.aspects[0] if data.aspects else ""
    notes = (
        [f"human-written outputs are excluded: {', '.join(left)} ({option('keep_human', True)} includes them)"]
        if left
        else []
    )
    if len(data.aspects) > 1:
        notes.append(f"the design uses the earlier labels of '{aspect}' ({option('aspect')} selects another aspect)")
    values = data.ratings.filter(pl.col("aspect") == aspect).group_by(KEY).agg(pl.col("value").mean())
    labels = keys.join(values, on=KEY, how="left", maintain_order="left")["value"].cast(pl.Float64).to_numpy()
    known = (
        keys.join(
            data.ratings.select(KEY).unique().with_columns(pl.lit(True).alias("__rated__")),
            on=KEY,
            how="left",
            maintain_order="left",
        )["__rated__"]
        .is_not_null()
        .to_numpy()
    )
    scores = keys.join(data.scores, on=KEY, how="left", maintain_order="left").select(data.metrics)
    table = scores.cast(pl.Float64).to_numpy().T if data.metrics else np.empty((0, keys.height))
    table = table * np.array([-1.0 if m in data.lower else 1.0 for m in data.metrics]).reshape(-1, 1)
    usable = [len(np.unique(row[np.isfinite(row)])) > 1 for row in table]
    rounds = data.samples[ROUND].cast(pl.Int64, strict=False).to_list() if ROUND in data.samples.columns else []
    return Population(
        keys,
        samples["output"].fill_null("").to_list() if "output" in samples.columns else [""] * keys.height,
        table[np.array(usable, bool)],
        labels,
        ~known,
        max([1, *(r for r in rounds if r)]) + 1 if known.any() else 1,
        _codes(keys["system"]),
        _codes(keys["input"]),
        notes,
    )


def _codes(names: pl.Series) -> Ints:
    return np.unique(names.to_numpy(), return_inverse=True)[1].astype(np.int64)


def _row(people: Population, at: int, probability: float, stratum: int) -> Row:
    system, name = people.keys.row(at)
    return {
        "system": system,
        "input": name,
        PROBABILITY: probability,
        STRATUM: system if stratum >= 0 else None,
        ROUND: people.draw,
    }


def draw_rows(
    people: Population, free: Ints, n: int, goal: Goal, how: How, cut: float | None, rng: np.random.Generator
) -> tuple[sampling.Draw, str]:
    """Draw among the unlabeled outputs, and describe the design."""
    said = WHAT[how]
    if how == "random":
        return sampling.random_draw(len(free), n, rng), said
    if how == "diverse":
        features, by = _features(people)
        order = sampling.neighbor_order(features[free])
        return sampling.proportional_draw(np.ones(len(free)), n, rng, order), f"{said} ({by})"
    judge = people.judge()
    if not len(people.scores) and how in ("disagreement", "optimal") and goal != "ranking":
        raise NeedsMissing(
            f"{option('how', how)} requires scores of a judge or metric; use random, stratified or diverse."
        )
    if how == "disagreement":
        if len(people.scores) < 2:
            raise NeedsMissing(f"{option('how', 'disagreement')} requires two or more metrics; use stratified.")
        size = sampling.with_floor(sampling.disagreement(people.scores))
        return sampling.proportional_draw(size[free], n, rng, judge[free]), said
    if how == "optimal" and goal == "threshold":
        at = np.searchsorted(np.sort(judge), _cut(people, judge, cut)) / len(judge)
        ranks = sampling.relative_ranks(judge[None])[0]
        size = sampling.with_floor(np.exp(-np.abs(ranks - at) / INTEREST_WIDTH))
        return sampling.proportional_draw(size[free], n, rng, judge[free]), f"{said}, near the threshold"
    if how == "optimal" and goal == "agreement":
        return sampling.proportional_draw(
            sampling.with_floor(_leverage(judge))[free], n, rng, judge[free]
        ), f"{said}, far from the mean score"
    if how == "optimal" and goal == "ranking":
        system = _dense(people.system[free])
        sizes, weight = np.bincount(system), sampling.with_floor(_undecided(people))[np.unique(people.system[free])]
        probability = (sampling.allocation(sizes, weight, n) / sizes)[system]
        found = sampling.coordinated_draw(system, people.unit[free], probability, rng)
        return found, f"{said}, for systems whose order is not significant, the same inputs for all"
    spread = sampling.learned_spread(judge, people.labels) if people.learned else np.ones(len(judge))
    if how == "optimal" and not people.learned:
        spread, said = _of_verdicts(people, said)
    size = np.ones(len(judge)) if how == "stratified" else sampling.with_floor(spread)
    return _by_system(people, free, n, size, judge, rng), said


def _by_system(
    people: Population, free: Ints, n: int, size: Array, judge: Array, rng: np.random.Generator
) -> sampling.Draw:
    """Allocate labels to systems (Neyman allocation if SDs are known), then in steps of the score within each."""
    system = _dense(people.system[free])
    groups = int(system.max()) + 1
    if groups < 2 or n < 3 * groups:  # too few labels for strata
        order = np.lexsort((judge[free], system)).argsort() if groups > 1 else judge[free]
        return sampling.proportional_draw(size[free], n, rng, np.asarray(order, float))
    mean = np.bincount(system, size[free]) / np.bincount(system)
    counts = sampling.allocation(np.bincount(system), mean * _system_spread(people, free, system), n, least=3)
    probability, chosen = np.zeros(len(free)), []
    for code, count in enumerate(counts):
        mine = np.flatnonzero(system == code)
        part = sampling.proportional_draw(size[free[mine]], int(count), rng, judge[free[mine]])
        probability[mine] = part.probability
        chosen.append(mine[part.rows])
    return sampling.Draw(rng.permutation(np.concatenate(chosen)), probability, system)


def _system_spread(people: Population, free: Ints, system: Ints) -> Array:
    """Return the SD of the labels of each system, shrunk to the overall SD with a prior weight of 8 labels."""
    known = np.isfinite(people.labels)
    if not people.learned:
        return np.ones(int(system.max()) + 1)
    off = np.zeros(len(people.labels))
    names = people.system[free]
    found = []
    for code in range(int(system.max()) + 1):
        mine = known & (people.system == names[system == code][0])
        off[mine] = (people.labels[mine] - people.labels[mine].mean()) ** 2 if mine.any() else 0.0
        found.append((off[mine].sum(), int(mine.sum())))
    pooled = off[known].sum() / max(int(known.sum()) - len(found), 1)
    return np.sqrt([(squares + 8 * pooled) / (max(count - 1, 0) + 8) for squares, count in found])


def _of_verdicts(people: Population, said: str) -> tuple[Array, str]:
    """Return the uncertainty of a judge whose scores are probabilities; other judges require labels."""
    first = people.scores[0]
    if len(people.scores) == 1 and np.nanmin(first) >= 0 and np.nanmax(first) <= 1 and len(np.unique(first)) > 2:
        return np.sqrt(np.clip(first * (1 - first), 0, None)), f"{said}, the judge's score is used as a probability"
    raise NeedsMissing(
        f"{option('how', 'optimal')} requires {LEAST_LEARNED} labels from which it estimates the judge's error; "
        "label a first sample "
        f"with {option('how', 'stratified')}, and give it with {option('labels')}."
    )


def _cut(people: Population, judge: Array, cut: float | None) -> float:
    """Return the threshold on the scale of the combined score."""
    if cut is None:
        best = _best_cut(people, judge)
        if best is None:
            raise NeedsMissing(
                f"for a threshold, {option('how', 'optimal')} requires {option('cut')}, or {LEAST_LEARNED} labels "
                "of pass and fail from earlier "
                f"draws ({option('labels')}), to estimate it; use {option('how', 'stratified')}."
            )
        return best
    if len(people.scores) != 1:
        raise NlgaugeError(
            f"{option('cut')} is on the scale of one judge: select it with {option('metrics', choice=True)}."
        )
    place = int((people.scores[0] < cut).sum())
    return float(np.sort(judge)[min(place, len(judge) - 1)])


def _best_cut(people: Population, judge: Array) -> float | None:
    """Return the threshold with fewest errors on the labels; None if they are few, or not pass and fail."""
    known = np.isfinite(people.labels)
    levels = np.unique(people.labels[known])
    if not people.learned or len(levels) != 2 or not len(people.scores):
        return None
    swept = sweep(judge[known], people.labels[known] == levels[1])
    return float(np.clip(swept.thresholds[cheapest(swept, 1.0, 1.0)], judge.min(), judge.max()))


def _leverage(judge: Array) -> Array:
    """Return the influence of a label on the correlation given its score: the root mean square of its influence
    on Pearson's r between normal variables of correlation TYPICAL."""
    x2 = ((judge - judge.mean()) / (judge.std() or 1.0)) ** 2
    rest = 1 - TYPICAL**2
    b = (TYPICAL * rest / 2) ** 2
    return np.asarray(np.sqrt(b * x2**2 + (rest**3 - 2 * b) * x2 + 3 * b))


def _undecided(people: Population) -> Array:
    """Return the uncertainty of each system's rank: from labels if there are enough, else equal for all."""
    from scipy.special import ndtr

    groups = int(people.system.max()) + 1
    known = np.isfinite(people.labels)
    counts = np.bincount(people.system[known], minlength=groups)
    if counts.min() < 3:
        return np.ones(groups)
    mean = np.bincount(people.system[known], people.labels[known], minlength=groups) / counts
    residual = (people.labels[known] - mean[people.system[known]]) ** 2
    variance = residual.sum() / max(int(known.sum()) - groups, 1) / counts
    apart = np.abs(mean[:, None] - mean) / np.sqrt(variance[:, None] + variance + 1e-12)
    doubt = 2 * (1 - ndtr(apart))
    np.fill_diagonal(doubt, 0.0)
    return np.asarray(np.sqrt(doubt.max(axis=1)))


def _features(people: Population) -> tuple[Array, str]:
    """Return features of similarity: scores, or words if there are no scores."""
    if len(people.scores):
        return np.nan_to_num(sampling.relative_ranks(people.scores), nan=0.5).T, "by their scores"
    if not any(people.texts):
        raise NeedsMissing(f"{option('how', 'diverse')} requires scores or output texts; use random.")
    from zlib import crc32

    counts = np.zeros((len(people.texts), HASH_COLUMNS))
    for row, text in enumerate(people.texts):
        for word in text.lower().split():
            counts[row, crc32(word.encode()) % HASH_COLUMNS] += 1
    weight = np.log((len(counts) + 1) / ((counts > 0).sum(axis=0) + 1))
    table = np.log1p(counts) * weight
    table = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    _, axes = np.linalg.eigh(table.T @ table)
    return table @ axes[:, -6:], "by their words"


def _dense(codes: Ints) -> Ints:
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)
