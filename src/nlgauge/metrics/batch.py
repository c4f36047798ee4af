"""Selection of the samples of a batch that can be scored, with the same reasons for the others in all metrics.

A missing text is "no source", a text without content "empty source", and likewise for the other needs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from nlgauge.text.batch import Batch, take
from nlgauge.types import Array, Ints, Mask

# The texts that a metric may need, and their names in reasons.
NEEDS = {
    "output": "output",
    "references": "reference",
    "source": "source",
    "context": "context",
    "control": "control attribute",
}
UNDEFINED, NO_WORDS = "not defined for these texts", "no words to compare"
GROWS = "the running time of this metric grows faster than the text"
Best = Literal["max", "mean"]  # of several references
Side = Literal["references", "source"]
Component = Literal["f", "p", "r"]  # F, precision or recall
TextPair = tuple[str, str]


@dataclass
class Scores:
    """One value per sample; NaN where there is none, and then a reason.

    notes: what to know about a value that is there, as "empty output" where the convention defines a score for it.
    """

    values: Array
    reasons: dict[int, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place in np.isnan(self.values).nonzero()[0].tolist():
            self.reasons.setdefault(place, UNDEFINED)


class Sample(NamedTuple):
    """The texts of a sample without white space at their ends; '' where there is none and none is needed."""

    output: str
    source: str
    context: str
    references: tuple[str, ...]
    control: str


@dataclass
class Usable:
    """The samples of a batch that can be scored, and why the others cannot.

    The references that hold something are `reference` (text numbers), `sample` says whose each is; those of sample s
    are `reference[start[s]:start[s + 1]]`. `of_sample` is the output of each sample, 0 where there is none. `samples`:
    the texts in the order of `places`, where they were asked for.
    """

    of_sample: Ints
    places: Ints
    sample: Ints
    reference: Ints
    reasons: dict[int, str]
    notes: dict[int, str]
    samples: list[Sample] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.of_sample)

    @functools.cached_property
    def start(self) -> Ints:
        """Return where the references of each sample begin in `reference`, with the end as last entry."""
        return self.sample.searchsorted(np.arange(len(self) + 1)).astype(np.int64)

    @functools.cached_property
    def single(self) -> bool:
        """Whether every sample has exactly one reference, so that pairs are samples."""
        each = self.start[1:] - self.start[:-1]
        return len(self.reference) == len(self) == np.count_nonzero(each)

    @functools.cached_property
    def output(self) -> Ints:
        """The output that each reference belongs to."""
        return self.of_sample[self.sample]

    def note(self, which: Iterable[object], what: str, counts: Sequence[int] | None = None) -> None:
        """Note a remark about those usable samples for which it is true; a sample keeps its first note.

        counts: the number of entries of `which` per sample; one true entry is enough.
        """
        if counts is not None:
            which = fold([float(bool(w)) for w in which], counts, "max")
        for place, true in zip(self.places.tolist(), which, strict=True):
            if true:
                self.notes.setdefault(place, what)

    def scores(self, values: Array) -> Scores:
        """Return Scores from one value per sample of the batch."""
        values = np.array(values, np.float64)
        if self.reasons:
            values[list(self.reasons)] = np.nan
        return Scores(values, dict(self.reasons), dict(self.notes))

    def scattered(self, values: Sequence[float] | Array, why: str = UNDEFINED) -> Scores:
        """Return Scores from one value per usable sample; NaN gets the reason `why` unless it has one."""
        result = np.full(len(self), np.nan)
        result[self.places] = values
        reasons = dict(self.reasons)
        for place in self.places[np.isnan(result[self.places])].tolist():
            reasons.setdefault(place, why)
        return Scores(result, reasons, dict(self.notes))

    def zeroed(self, stats: Array) -> Array:
        """Return statistics of all samples, with zeros for samples without a value."""
        stats = np.array(stats, np.float64)
        if self.reasons:
            stats[list(self.reasons)] = 0.0
        return stats


def usable(
    batch: Batch, needs: Collection[str], *, filled: Mask | None = None, may_be_empty: Collection[str] = ()
) -> Usable:
    """Find the samples of a batch that have all that is needed.

    Parameters
    ----------
    batch : Batch
    needs : collection of {'output', 'source', 'context', 'references', 'control'}
        The first of them that a sample lacks is its reason.
    filled : array of texts, optional
        Whether anything is in each text, such as a token; by default a character that is no blank.
    may_be_empty : collection of str, optional
        Needs of which an empty text will do.

    Returns
    -------
    Usable
        `places` of the samples, their references without empty ones, and the `reasons` of the others.
    """
    if filled is None:
        filled = batch.view("filled", lambda texts: np.array([bool(t.strip()) for t in texts], np.bool_))
    available = np.zeros(len(filled) + 1, np.bool_)  # the last: no text
    available[:-1] = filled
    many = batch.start[1:] - batch.start[:-1]
    sample = np.arange(len(batch)).repeat(many)
    held = available[batch.reference]
    full = many if np.count_nonzero(held) == len(held) else np.bincount(sample[held], minlength=len(batch))
    reasons: dict[int, str] = {}
    for need in (need for need in NEEDS if need in needs):
        there, has = _present(batch, need, available, many > 0, full > 0)
        if np.count_nonzero(there if need in may_be_empty else has) == len(batch):
            continue
        lacks = {f"no {NEEDS[need]}": ~there, f"empty {NEEDS[need]}": there & ~has}
        for why, where in lacks.items() if need not in may_be_empty else [*lacks.items()][:1]:
            for place in np.flatnonzero(where).tolist():
                reasons.setdefault(place, why)
    places = np.arange(len(batch))
    if reasons:
        scored = np.ones(len(batch), np.bool_)
        scored[list(reasons)] = False
        places, held = np.flatnonzero(scored), held & scored[sample]
    of_sample = np.maximum(batch.output, 0)
    if "references" not in needs:
        none = np.empty(0, np.int64)
        return Usable(of_sample, places, none, none, reasons, {})
    if full is many and not reasons:  # every reference of every sample
        return Usable(of_sample, places, sample, batch.reference, reasons, {})
    empty = many - full
    notes = {i: f"{empty[i]} empty references left out" for i in places[empty[places] > 0].tolist()}
    return Usable(of_sample, places, sample[held], batch.reference[held], reasons, notes)


def _present(batch: Batch, need: str, filled: Mask, referenced: Mask, full: Mask) -> tuple[Mask, Mask]:
    """Return which samples have the needed texts, and for which of them these are not empty."""
    if need == "references":
        return referenced, full
    if need == "control":
        given = [batch.control[i] if i < len(batch.control) else None for i in range(len(batch))]
        has = np.array([bool(c and c.strip()) for c in given], np.bool_)
        return np.array([c is not None for c in given], np.bool_), has
    numbers = getattr(batch, need)
    return numbers >= 0, filled[numbers]


def readable(batch: Batch, needs: Collection[str]) -> Usable:
    """Return the usable samples with their texts."""
    result = usable(batch, needs)
    texts = [*(t.strip() for t in batch.texts.list()), ""]  # the last: no text
    for i in result.places.tolist():
        output, source, context = (texts[column[i]] for column in (batch.output, batch.source, batch.context))
        refs = tuple(texts[r] for r in result.reference[result.start[i] : result.start[i + 1]].tolist())
        control = batch.control[i] if i < len(batch.control) else None
        result.samples.append(Sample(output, source, context, refs, (control or "").strip()))
    return result


def fold(values: Sequence[float], counts: Sequence[int], how: str) -> list[float]:
    """Reduce each run of `counts[i]` values to their mean, sum, max or min; NaN for an empty run.

    >>> fold([1.0, 3.0, 5.0], [2, 1], "mean")
    [2.0, 5.0]
    """
    result, index = [], 0
    for n in counts:
        some = list(values[index : index + n])
        index += n
        if not some:
            result.append(math.nan)
        elif how in ("mean", "sum"):
            result.append(math.fsum(some) / (n if how == "mean" else 1))
        else:
            result.append(max(some) if how == "max" else min(some))
    return result


def over_pairs(
    batch: Batch,
    side: Side,
    score: Callable[[list[TextPair]], Sequence[float]],
    how: Best = "max",
    lower: bool = False,
    why: str | Callable[[TextPair], str] = NO_WORDS,
) -> Scores:
    """Score every distinct pair of output and reference (or source) once; return the best or the mean over references.

    `score` gives NaN where a pair has no value, and `why` the reason. Empty texts are never scored.
    """
    texts = batch.texts.list()
    result = usable(batch, ("output", side))
    numbers: dict[tuple[int, int], int] = {}
    own: list[list[int]] = []
    for i in result.places.tolist():
        others = [batch.source[i]] if side == "source" else result.reference[result.start[i] : result.start[i + 1]]
        own.append([numbers.setdefault((int(batch.output[i]), int(r)), len(numbers)) for r in others])
    pairs = [(texts[o], texts[r]) for o, r in numbers]
    values = np.asarray(score(pairs), np.float64)
    best = []
    for i, places in zip(result.places.tolist(), own, strict=True):
        given = [v for v in values[places].tolist() if not math.isnan(v)]
        if given:
            best.append(float(np.mean(given)) if how == "mean" else min(given) if lower else max(given))
        else:
            best.append(math.nan)
            result.reasons[i] = why if isinstance(why, str) else why(pairs[places[0]])
    return result.scattered(best)


def scores_without(batch: Batch, left: Ints, why: str, score: Callable[[Batch], Scores]) -> Scores:
    """Return the scores of the batch without the samples `left`, which have no value for that reason."""
    if not len(left):
        return score(batch)
    selected = np.setdiff1d(np.arange(len(batch)), left)
    result = score(take(batch, selected)) if len(selected) else Scores(np.empty(0))
    values = np.full(len(batch), np.nan)
    values[selected] = result.values
    reasons = {int(selected[i]): reason for i, reason in result.reasons.items()}
    notes = {int(selected[i]): note for i, note in result.notes.items()}
    return Scores(values, reasons | dict.fromkeys(left.tolist(), why), notes)


def stats_without(batch: Batch, left: Ints, stats: Callable[[Batch], Array]) -> Array:
    """Return the statistics of the batch, with zeros for the samples `left`."""
    if not len(left):
        return stats(batch)
    selected = np.setdiff1d(np.arange(len(batch)), left)
    result = np.asarray(stats(take(batch, selected)), np.float64)
    rows = np.zeros((len(batch), result.shape[1]))
    rows[selected] = result
    return rows


def limited_scores(score: Any) -> Any:
    """Return `score` of a metric that is not given texts longer than `facts.longest` characters."""

    @functools.wraps(score)
    def limited(self: Any, batch: Batch) -> Scores:
        why = f"longer than {self.facts.longest:,} characters: {GROWS}"
        return scores_without(batch, _too_long(batch, self.facts), why, functools.partial(score, self))

    return limited


def limited_stats(stats: Any) -> Any:
    """Return `stats` of such a metric."""

    @functools.wraps(stats)
    def limited(self: Any, batch: Batch) -> Array:
        return stats_without(batch, _too_long(batch, self.facts), functools.partial(stats, self))

    return limited


def _too_long(batch: Batch, facts: Any) -> Ints:
    """Return the samples with a text that is too long, among those that the metric reads."""
    size = batch.view("characters", lambda texts: np.array([*map(len, texts), 0], np.int64))  # the last: no text
    if size.max() <= facts.longest:
        return np.empty(0, np.int64)
    most = np.zeros(len(batch), np.int64)
    for need in ("output", "source", "context"):
        if need in facts.needs:
            most = np.maximum(most, size[getattr(batch, need)])
    if "references" in facts.needs and len(batch.reference):
        owner = np.repeat(np.arange(len(batch)), np.diff(batch.start))
        np.maximum.at(most, owner, size[batch.reference])
    return np.flatnonzero(most > facts.longest)
