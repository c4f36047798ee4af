"""Which outputs should people label next? A draw with known probabilities, aimed at what the labels are for."""

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
# Chosen on SummEval, held against the other sets in docs/labels_saved.md; an estimate with LEAST_AIMED labels or more
# goes on with 'optimal'.
DEFAULT: dict[Goal, How] = {
    "estimate": "stratified",
    "agreement": "optimal",
    "ranking": "optimal",
    "threshold": "optimal",
}
LEAST_LEARNED = 30  # labels from which spreads are learned
LEAST_AIMED = 60  # labels from which a draw for an estimate is aimed by them unasked
HARDLY = 0.1  # share of labels saved below which aiming is said to hardly pay
INTEREST_WIDTH = 0.15  # ranks (0 to 1) from a cut at which interest falls to 1/e
TYPICAL = 0.4  # correlation with people at which a draw for agreement is best
WORDS = 512  # columns into which words are counted
WHAT = {
    "random": "every output with the same probability",
    "stratified": "from each system as many as its outputs (and their spread, where labels tell it) ask for, in equal "
    "steps along the judge's score",
    "disagreement": "outputs on which the metrics disagree more often",
    "optimal": "outputs that tell most more often",
    "diverse": "in equal steps through outputs ordered by likeness",
}


@dataclass(frozen=True)
class Population:
    """The outputs that may be drawn, and what is known of all of them. Arrays are of all outputs, drawn or not."""

    keys: pl.DataFrame
    texts: list[str]
    scores: Array  # metrics × outputs, more is better
    labels: Array  # NaN where there is none
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
        """One score of each output: fitted to the labels where there are enough, else the mean relative rank."""
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
    keep_people: bool = False,
) -> Table:
    """`budget` outputs that have no label yet, each with the probability with which it was drawn."""
    for word, known in ((goal, get_args(Goal)), (how, (None, *get_args(How)))):
        if word not in known:
            raise NameUnknown(f"no '{word}'; use {', '.join(k for k in known if k)}.")
    people = population(data, keep_people)
    free = np.flatnonzero(people.free)
    if not 1 <= budget <= len(free):
        raise NlgaugeError(f"{data.name}: budget {budget}: there are {len(free):,} outputs without a label.")
    aimed = goal == "estimate" and len(people.scores) and np.isfinite(people.labels).sum() >= LEAST_AIMED
    blind = goal == "threshold" and cut is None and _best_cut(people, people.judge()) is None
    design = how or ("optimal" if aimed else "stratified" if blind else DEFAULT[goal])
    cut = -cut if cut is not None and data.lower.issuperset(data.metrics) else cut  # scores are turned: more is better
    found, said = draw_rows(people, free, budget, goal, design, cut, np.random.default_rng([seed, people.draw]))
    rows = [_row(people, int(free[at]), float(found.probability[at]), int(found.stratum[at])) for at in found.rows]
    if blind and not how:
        said += f" (no threshold is known: {option('cut')} names one, 30 labels of pass and fail show where it is)"
    saved = _saved(people, budget, design) if goal == "estimate" else None
    first = "" if people.draw == 1 else f" (draw {people.draw}; {len(people.keys) - len(free):,} have one already)"
    return Table(
        title=Title(data.name, f"{len(rows)} outputs to label next, of {len(free):,} without a label{first}"),
        rows=rows,
        kind="next",
        shown=["system", "input", PROBABILITY],
        heads={PROBABILITY: "drawn with probability"},
        method=f"for {goal}, {design}: {said}; seed {seed}. The column '{PROBABILITY}' stays with the labels: an "
        "estimate weighs each by its inverse.",
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
    """Share of the labels that the judge (and strata) will save, from the labels so far: what they explain of people's
    ratings, of which the outputs that will have a label themselves gain nothing."""
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
        f"By the {count} labels so far this draw saves about {value} % [{low} {high}] of the labels that random ones "
        "would take without a judge for an interval as narrow"
    )
    if saved[2] < HARDLY:
        return f"{said}: aiming hardly pays here, random labels do as well."
    return f"{said}{': it may save nothing' if round(100 * saved[1]) < 1 else ''}."


def population(data: Dataset, keep_people: bool = False) -> Population:
    """All outputs with scores, labels and texts, in the order of their names: that of the file means nothing."""
    left = [] if keep_people else sorted(data.people)
    samples = data.samples.filter(~pl.col("system").is_in(left)).sort(KEY)
    keys = samples.select(KEY)
    aspect = data.aspects[0] if data.aspects else ""
    notes = [f"written by people, left out: {', '.join(left)} ({option('keep_people', True)})"] if left else []
    if len(data.aspects) > 1:
        notes.append(f"earlier labels of '{aspect}' aim the draw; {option('aspect')} names another one")
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
    """The draw among the free outputs, and what was done in words."""
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
            f"{option('how', how)} needs scores of a judge or metric; use random, stratified or diverse."
        )
    if how == "disagreement":
        if len(people.scores) < 2:
            raise NeedsMissing(f"{option('how', 'disagreement')} needs two metrics or more; use stratified.")
        size = sampling.with_floor(sampling.disagreement(people.scores))
        return sampling.proportional_draw(size[free], n, rng, judge[free]), said
    if how == "optimal" and goal == "threshold":
        at = np.searchsorted(np.sort(judge), _cut(people, judge, cut)) / len(judge)
        ranks = sampling.relative_ranks(judge[None])[0]
        size = sampling.with_floor(np.exp(-np.abs(ranks - at) / INTEREST_WIDTH))
        return sampling.proportional_draw(size[free], n, rng, judge[free]), f"{said}: near the cut"
    if how == "optimal" and goal == "agreement":
        return sampling.proportional_draw(
            sampling.with_floor(_leverage(judge))[free], n, rng, judge[free]
        ), f"{said}: where the score is far from its mean"
    if how == "optimal" and goal == "ranking":
        system = _dense(people.system[free])
        sizes, weight = np.bincount(system), sampling.with_floor(_undecided(people))[np.unique(people.system[free])]
        probability = (sampling.allocation(sizes, weight, n) / sizes)[system]
        found = sampling.coordinated_draw(system, people.unit[free], probability, rng)
        return found, f"{said}: systems whose order is undecided, the same inputs for all"
    spread = sampling.learned_spread(judge, people.labels) if people.learned else np.ones(len(judge))
    if how == "optimal" and not people.learned:
        spread, said = _of_verdicts(people, said)
    size = np.ones(len(judge)) if how == "stratified" else sampling.with_floor(spread)
    return _by_system(people, free, n, size, judge, rng), said


def _by_system(
    people: Population, free: Ints, n: int, size: Array, judge: Array, rng: np.random.Generator
) -> sampling.Draw:
    """Labels given to systems (Neyman, where labels tell their spread), then in steps along the score inside each."""
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
    """Standard deviation of the labels of each system, drawn towards that of all by as much as eight labels weigh."""
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
    """Uncertainty of a judge that gives probabilities; another judge needs labels before it is known."""
    first = people.scores[0]
    if len(people.scores) == 1 and np.nanmin(first) >= 0 and np.nanmax(first) <= 1 and len(np.unique(first)) > 2:
        return np.sqrt(np.clip(first * (1 - first), 0, None)), f"{said}: the judge's number taken as a probability"
    raise NeedsMissing(
        f"{option('how', 'optimal')} learns from {LEAST_LEARNED} labels or more how far the judge errs where; "
        "label a first draw "
        f"with {option('how', 'stratified')}, and give it with {option('labels')}."
    )


def _cut(people: Population, judge: Array, cut: float | None) -> float:
    """The cut on the scale of the combined score."""
    if cut is None:
        best = _best_cut(people, judge)
        if best is None:
            raise NeedsMissing(
                f"for a threshold, {option('how', 'optimal')} needs {option('cut')}, or {LEAST_LEARNED} labels "
                "of pass and fail from earlier "
                f"draws ({option('labels')}), which say where the threshold is; use {option('how', 'stratified')}."
            )
        return best
    if len(people.scores) != 1:
        raise NlgaugeError(f"{option('cut')} is a value of one judge: name it with {option('metrics')}.")
    place = int((people.scores[0] < cut).sum())
    return float(np.sort(judge)[min(place, len(judge) - 1)])


def _best_cut(people: Population, judge: Array) -> float | None:
    """The threshold with fewest errors on the labels so far; None where they are few, or not pass and fail."""
    known = np.isfinite(people.labels)
    levels = np.unique(people.labels[known])
    if not people.learned or len(levels) != 2 or not len(people.scores):
        return None
    swept = sweep(judge[known], people.labels[known] == levels[1])
    return float(np.clip(swept.thresholds[cheapest(swept, 1.0, 1.0)], judge.min(), judge.max()))


def _leverage(judge: Array) -> Array:
    """How much a label of an output can move the correlation, given its score: the root mean square of its influence
    on Pearson's r between normal variables of correlation TYPICAL."""
    x2 = ((judge - judge.mean()) / (judge.std() or 1.0)) ** 2
    rest = 1 - TYPICAL**2
    b = (TYPICAL * rest / 2) ** 2
    return np.asarray(np.sqrt(b * x2**2 + (rest**3 - 2 * b) * x2 + 3 * b))


def _undecided(people: Population) -> Array:
    """For each system how open its order to the others is: from labels where there are enough, else alike for all."""
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
    """What makes outputs alike: their scores, or their words where there are no scores."""
    if len(people.scores):
        return np.nan_to_num(sampling.relative_ranks(people.scores), nan=0.5).T, "by their scores"
    if not any(people.texts):
        raise NeedsMissing(f"{option('how', 'diverse')} needs scores or output texts; use random.")
    from zlib import crc32

    counts = np.zeros((len(people.texts), WORDS))
    for row, text in enumerate(people.texts):
        for word in text.lower().split():
            counts[row, crc32(word.encode()) % WORDS] += 1
    weight = np.log((len(counts) + 1) / ((counts > 0).sum(axis=0) + 1))
    table = np.log1p(counts) * weight
    table = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    _, axes = np.linalg.eigh(table.T @ table)
    return table @ axes[:, -6:], "by their words"


def _dense(codes: Ints) -> Ints:
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)
