"""Helpers of several analyses: measures from their names, notes about the data, and the signature line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from nlgauge import __version__
from nlgauge.analyses import Progress
from nlgauge.data.dataset import Dataset
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, RowNote
from nlgauge.stats.correlation.measure import TWELVE, Estimates, Measure, evaluate
from nlgauge.types import Array

Named = str | Measure
Job = TypeVar("Job")


def counted(jobs: Collection[Job], progress: Progress | None) -> Iterator[Job]:
    """Yield jobs one after the other, and report progress.

    Parameters
    ----------
    jobs : collection
    progress : callable, optional
        Called after each job with the number of jobs done and the number of all jobs.

    Returns
    -------
    iterator
    """
    for done, job in enumerate(jobs, start=1):
        yield job
        if progress is not None:
            progress(done, len(jobs))


def finite_mean(values: ArrayLike) -> float:
    """Return the mean of the finite values; NaN if there is none.

    >>> finite_mean([1.0, float("nan"), 3.0])
    2.0
    """
    array = np.asarray(values, np.float64)
    finite = array[np.isfinite(array)]
    return float(finite.mean()) if finite.size else float("nan")


def measures_of(names: Sequence[Named] | Named | None) -> list[Measure]:
    """Return measures from their names; by default the twelve of Gao et al. (2025)."""
    if names is None:
        return list(TWELVE)
    if isinstance(names, str | Measure):
        names = [names]
    return [n if isinstance(n, Measure) else Measure.parse(n) for n in names]


def evaluated(panel: Panel, measures: Sequence[Measure]) -> Estimates:
    """Evaluate measures for every metric of a panel, higher being better; computed once per panel and measures."""
    key = "measures", tuple(str(m) for m in measures)
    return panel.once(key, lambda: evaluate(panel.oriented(), panel.human, list(measures)))


def defined_measures(panel: Panel, names: Sequence[Named] | Named | None) -> tuple[list[Measure], list[str]]:
    """Return the measures that have a value for at least one metric, and notes on the others; an error if none has."""
    measures = measures_of(names)
    estimates = evaluated(panel, measures)
    defined = [bool(np.isfinite(column).any()) for column in estimates.value.T]
    notes = undefined_notes({m: str(estimates.reason[0, k]) for k, m in enumerate(measures) if not defined[k]})
    if not any(defined):
        raise NeedsMissing(" ".join(notes), code="undefined")
    return [m for m, ok in zip(measures, defined, strict=True) if ok], notes


def undefined_notes(refused: Mapping[Measure, str]) -> list[str]:
    """List the measures without a value, one note per reason."""
    return [
        RowNote(f"not available: {', '.join(str(m) for m, own in refused.items() if own == why)} ({why}).")
        for why in dict.fromkeys(refused.values())
    ]


def reference(source: Panel | Dataset, what: str = "ratings") -> str:
    """Return what the scores are compared with: "human ratings", or who or what else rated the outputs.

    Parameters
    ----------
    source : Panel or Dataset
    what : str, default 'ratings'

    Returns
    -------
    str
    """
    return f"human {what}" if source.rated_by == "humans" else f"{what} by {source.rated_by}"


def ratings_of(panel: Panel, what: str, least: int = 2) -> Array:
    """Return the ratings of the aspect, annotators × systems × inputs, without annotators of other aspects only."""
    ratings = panel.raters.get(panel.aspect)
    count = rater_count(panel)
    if ratings is None or count < least:
        words = {2: "two", 3: "three"}.get(least, str(least))
        present = "annotator IDs are unknown (one rating per output)" if ratings is None else f"found {count}"
        raise NeedsMissing(
            f"{what} needs at least {words} annotators; {present}.",
            code="too_few_raters",
            needed=least,
            available=count if ratings is not None else 1,
        )
    return np.asarray(ratings[~np.isnan(ratings).all(axis=(1, 2))])


def rater_count(panel: Panel) -> int:
    """Return the number of annotators of the aspect; 1 where their IDs are unknown."""
    ratings = panel.raters.get(panel.aspect)
    return 1 if ratings is None else int((~np.isnan(ratings).all(axis=(1, 2))).sum())


def signature(panel: Panel, **more: object) -> str:
    """Return the settings that are needed to reproduce the numbers of a panel, in one line.

    Parameters
    ----------
    panel : Panel
    **more
        Settings of the analysis.

    Returns
    -------
    str
        Version, aspect, annotators, size, missing values and the settings, as `key:value|…`.
    """
    people = "out" if panel.human_systems else "kept" if panel.kept else "none"
    parts = {
        "nlgauge": __version__,
        "aspect": panel.aspect,
        "raters": rater_count(panel),
        "grid": f"{panel.n_systems}x{panel.n_inputs}",
        "human": people,
        "missing": "pairwise",
        "constant": "dropped",
        **({} if panel.aggregate == "mean" else {"aggregate": panel.aggregate}),
        **more,
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items())


def human_note(panel: Panel) -> list[str]:
    """Name the human-written outputs that are left out.

    Parameters
    ----------
    panel : Panel

    Returns
    -------
    list of str
        One note for `Table(notes=…)`; empty where there are none.
    """
    return [f"human-written outputs are excluded: {', '.join(panel.human_systems)}."] if panel.human_systems else []


def flipped_note(panel: Panel) -> list[str]:
    """Name the metrics of a panel for which lower is better, whose sign is flipped.

    Parameters
    ----------
    panel : Panel

    Returns
    -------
    list of str
        One note for `Table(notes=…)`; empty where there are none.
    """
    return flipped_words(panel.lower)


def flipped_words(lower: Iterable[str]) -> list[str]:
    """Name metrics for which lower is better, whose sign is flipped.

    Parameters
    ----------
    lower : collection of str

    Returns
    -------
    list of str
        One note for `Table(notes=…)`; empty without names.
    """
    names = ", ".join(sorted(lower))
    return (
        [f"↓ lower is better: {names}; the sign is flipped, so that positive values mean agreement."] if names else []
    )
