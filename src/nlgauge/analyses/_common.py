"""What analyses share: measures from words, and the signature line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from nlgauge import __version__
from nlgauge.analyses import Progress
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
        Called after each job with how many are done, and of how many.

    Returns
    -------
    iterator
    """
    for done, job in enumerate(jobs, start=1):
        yield job
        if progress is not None:
            progress(done, len(jobs))


def known_mean(values: ArrayLike) -> float:
    """Mean of the finite values; NaN where there is none.

    >>> known_mean([1.0, float("nan"), 3.0])
    2.0
    """
    every = np.asarray(values, np.float64)
    known = every[np.isfinite(every)]
    return float(known.mean()) if known.size else float("nan")


def measures_of(names: Sequence[Named] | Named | None) -> list[Measure]:
    """Measures from names; the twelve of gao2025 when none are given."""
    if names is None:
        return list(TWELVE)
    if isinstance(names, str | Measure):
        names = [names]
    return [n if isinstance(n, Measure) else Measure.parse(n) for n in names]


def evaluated(panel: Panel, measures: Sequence[Measure]) -> Estimates:
    """The measures of every metric of a panel, more always better; computed once for the same panel and measures."""
    key = "measures", tuple(str(m) for m in measures)
    return panel.once(key, lambda: evaluate(panel.oriented(), panel.human, list(measures)))


def defined_measures(panel: Panel, names: Sequence[Named] | Named | None) -> tuple[list[Measure], list[str]]:
    """Return the measures that have a value for at least one metric, and notes on the others; an error if none has."""
    measures = measures_of(names)
    estimates = evaluated(panel, measures)
    good = [bool(np.isfinite(column).any()) for column in estimates.value.T]
    notes = not_given({m: str(estimates.reason[0, k]) for k, m in enumerate(measures) if not good[k]})
    if not any(good):
        raise NeedsMissing(" ".join(notes), data=panel.name, aspect=panel.aspect, code="undefined")
    return [m for m, ok in zip(measures, good, strict=True) if ok], notes


def not_given(refused: Mapping[Measure, str]) -> list[str]:
    """Measures without a value, each reason once."""
    return [
        RowNote(f"not given: {', '.join(str(m) for m, own in refused.items() if own == why)} ({why}).")
        for why in dict.fromkeys(refused.values())
    ]


def ratings_of(panel: Panel, what: str, least: int = 2) -> Array:
    """Ratings of the aspect, raters × systems × inputs, without raters who rated other aspects only."""
    ratings = panel.raters.get(panel.aspect)
    count = rater_count(panel)
    if ratings is None or count < least:
        words = {2: "two", 3: "three"}.get(least, str(least))
        found = "there is one rating an output" if ratings is None else f"found {count}"
        raise NeedsMissing(
            f"{what} needs at least {words} raters; {found}.",
            data=panel.name,
            aspect=panel.aspect,
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
    """Return what another group needs to repeat the numbers of a panel, in one line.

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
    people = "out" if panel.people else "kept" if panel.kept else "none"
    parts = {
        "nlgauge": __version__,
        "aspect": panel.aspect,
        "raters": rater_count(panel),
        "grid": f"{panel.n_systems}x{panel.n_inputs}",
        "people": people,
        "missing": "pairwise",
        "constant": "dropped",
        **({} if panel.aggregate == "mean" else {"aggregate": panel.aggregate}),
        **more,
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items())


def people_note(panel: Panel) -> list[str]:
    """Name the human-written outputs that are left out.

    Parameters
    ----------
    panel : Panel

    Returns
    -------
    list of str
        One note for `Table(notes=…)`; empty where there are none.
    """
    return [f"written by people, left out: {', '.join(panel.people)}."] if panel.people else []


def turned_note(panel: Panel) -> list[str]:
    """Name the metrics of a panel for which lower is better, whose sign is flipped.

    Parameters
    ----------
    panel : Panel

    Returns
    -------
    list of str
        One note for `Table(notes=…)`; empty where there are none.
    """
    return turned_words(panel.lower)


def turned_words(lower: Iterable[str]) -> list[str]:
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
    return [f"↓ less is better: {names}; the sign is turned, so that more is agreement."] if names else []
