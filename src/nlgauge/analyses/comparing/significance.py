"""Is one metric really better than another? Tests for every pair of metrics (gao2025 section 5.1, novikova2017 section 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, evaluated, measures_of, people_note, signature
from nlgauge.analyses.agreement.intervals import scope_notes, speaks_of_these_only
from nlgauge.data.panel import Panel
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.correlation.profiles import profile_of
from nlgauge.stats.resampling.bootstrap import bootstrap_test
from nlgauge.stats.resampling.jackknife import difference_tests, over_of, too_few, unit_word
from nlgauge.stats.tests.corrections import benjamini_hochberg, holm
from nlgauge.stats.tests.permutation import PairTests, permutation_pairs
from nlgauge.stats.tests.williams import williams_pairs
from nlgauge.table import Layout, Row, Table

Test = Literal["auto", "permutation", "williams", "bootstrap"]
CORRECTIONS: dict[str, Callable[[Any], Any]] = {"holm": holm, "bh": benjamini_hochberg, "none": np.asarray}
WORDS = {"holm": "Holm's correction", "bh": "Benjamini and Hochberg's correction", "none": "no correction"}


@analysis("significance", paper="gao2025", question="Is one metric really better than another?")
def significance(
    panel: Panel,
    *,
    measure: Named = "input/kendall",
    test: Test = "auto",
    how: Literal["both", "inputs", "systems", "cells"] | None = None,
    draws: int | None = None,
    correction: Literal["holm", "bh", "none"] = "holm",
    level: float = 0.05,
    profile: str = "nlgauge",
    seed: int = 0,
    progress: Progress | None = None,
) -> Table:
    """One row per pair, the better metric first: difference, p, corrected p.

    `auto` asks whether the difference would hold for systems and inputs like these (for inputs like these, where fewer
    than six systems cannot speak of others); its false alarms are shown in docs/trust.md. `permutation` with how=both, the
    test of gao2025 and nlpstats, asks about these very outputs; naming `how` or a profile asks for it. Metrics of which less is better change their sign first, so that a difference always means what it says.
    """
    chosen = measures_of(measure)[0]
    if len(panel.metrics) < 2:
        raise NeedsMissing(f"{panel.name}: comparing metrics needs at least two; found {len(panel.metrics)}.")
    stacked = panel.oriented()
    found = evaluated(panel, [chosen])
    values = found.value[:, 0]
    if np.isnan(values).all():
        reason = found.reason[0, 0]
        raise NeedsMissing(f"{panel.name}, {panel.aspect}: {chosen}: {reason}")
    # Best first; a metric without a value cannot be compared and stands last.
    order = sorted(range(len(values)), key=lambda k: (np.isnan(values[k]), -values[k]))
    if test == "auto" and (how is not None or profile != "nlgauge"):
        test = "permutation"
    # A profile that asks whether the second metric is better is given the better one second.
    second = test in ("permutation", "bootstrap") and profile_of(profile).alternative == "less"
    place = order[::-1] if second else order
    tests = panel.once(  # `ranking` and `significance` rest on the same tests
        ("pair tests", tuple(place), str(chosen), test, how, draws, profile, seed),
        lambda: run_test(
            stacked[place], panel.human, [chosen], test, how=how, draws=draws, profile=profile, seed=seed, progress=progress,
            clusters=panel.clusters,
        ),
    )  # fmt: skip
    adjusted = CORRECTIONS[correction](tests.p[:, 0])
    names = [panel.names[k] for k in place]
    rows = [
        _row(panel, chosen, names, (int(i), int(j)), tests, at, float(adjusted[at]), level, second)
        for at, (i, j) in enumerate(tests.pairs)
    ]
    rank = {panel.names[k]: at for at, k in enumerate(order)}
    swapped = profile_of(profile, how).swap if test == "permutation" else None
    facts = {
        "these_systems_only": test == "auto" and speaks_of_these_only(panel),
        "untested": _untested(panel, rows, test),
    }
    rows.sort(key=lambda row: (rank[row["better"]], rank[row["worse"]]))
    return Table(
        title=f"{panel.name}: differences between metrics on {panel.aspect}, {chosen}",
        rows=rows,
        layout=Layout("better", "worse", "p_corrected") if len(names) <= 12 else None,
        shown=["better", "worse", "difference", "p", "p_corrected", "significant"],
        definitions={str(chosen): chosen.definition},
        method=_sentence(tests.method)
        + f" {WORDS[correction][0].upper()}{WORDS[correction][1:]} over {len(rows)} pairs.",
        notes=[
            *_notes(panel, tests, rows, facts, test, swapped),
            *_too_few_draws(tests, rows, correction, level),
        ],
        facts=facts,
        signature=signature(
            panel, measure=chosen, test=test, profile=profile, correction=correction, seed=seed
        ),
    )


def run_test(
    stacked: Any, human: Any, measures: list[Measure], test: Test, *, how: Any = None, draws: int | None = None,
    profile: str = "nlgauge", seed: int = 0, progress: Progress | None = None, clusters: tuple[str, ...] | None = None,
) -> PairTests:  # fmt: skip
    """The chosen test on all pairs; `clusters`, which the default test leaves out whole, are those of the inputs."""
    if test == "auto":
        return difference_tests(
            stacked, human, measures, clusters=clusters, draws=draws, seed=seed, progress=progress
        )
    if test == "permutation":
        return permutation_pairs(
            stacked,
            human,
            measures,
            how=how,
            draws=draws,
            profile=profile,
            seed=seed,
            progress=progress,
        )
    if test == "williams":
        absolute = profile_of(profile).williams_absolute
        return williams_pairs(stacked, human, measures, absolute=absolute, progress=progress)
    if test == "bootstrap":
        return _bootstrap_pairs(
            stacked, human, measures, how or "both", draws or 1000, profile, seed, progress
        )
    raise NameUnknown(f"no test '{test}'; use auto, permutation, williams or bootstrap.")


def _bootstrap_pairs(
    stacked: Any,
    human: Any,
    measures: list[Measure],
    how: Any,
    draws: int,
    profile: str,
    seed: int,
    progress: Progress | None,
) -> PairTests:
    k = len(stacked)
    pairs = np.array([(i, j) for i in range(k) for j in range(i + 1, k)], np.int64)
    p, difference = np.empty((len(pairs), len(measures))), np.empty((len(pairs), len(measures)))
    cells = np.empty(len(pairs), np.int64)
    for at, (i, j) in enumerate(pairs):
        p[at], difference[at] = bootstrap_test(
            stacked[i], stacked[j], human, measures, how=how, draws=draws, seed=seed, profile=profile
        )
        cells[at] = np.isfinite(stacked[[i, j]]).all(axis=0).__and__(np.isfinite(human)).sum()
        if progress is not None:
            progress(at + 1, len(pairs))
    unit = "systems and inputs" if how == "both" else how
    method = f"bootstrap test of the difference, resampling {unit}, two-sided, {draws} draws, seed {seed}"
    names = tuple(str(m) for m in measures)
    return PairTests(names, pairs, difference, p, np.zeros(p.shape, np.int64), cells, draws, method)


def _row(
    panel: Panel, measure: Measure, names: list[str], pair: tuple[int, int], tests: PairTests, at: int, adjusted: float,
    level: float, second: bool,
) -> Row:  # fmt: skip
    """One pair. Where scores are missing, the outputs that both metrics scored may turn the order of the two round."""
    first, other = (names[k] for k in (pair[::-1] if second else pair))
    difference = float(tests.difference[at, 0]) * (-1.0 if second else 1.0)
    turned = difference < 0
    return {
        "better": other if turned else first, "worse": first if turned else other, "aspect": panel.aspect,
        "measure": str(measure), "difference": abs(difference), "p": float(tests.p[at, 0]), "p_corrected": adjusted,
        "significant": bool(adjusted < level), "n": int(tests.cells[at]),
    }  # fmt: skip


def _untested(panel: Panel, rows: list[Row], test: Test) -> str | None:
    """Why pairs have no p-value, where there are such pairs."""
    if not any(np.isnan(row["p"]) for row in rows):
        return None
    units = len(set(panel.cluster_names)) or panel.n_inputs
    over = over_of("auto", panel.n_systems)
    few = too_few(panel.n_systems, units, over, "input", unit_word(panel.clusters), what="a test")
    return few if few and test == "auto" else "no defined correlation"


def _notes(
    panel: Panel, tests: PairTests, rows: list[Row], facts: dict[str, Any], test: Test, swapped: str | None
) -> list[str]:
    notes = people_note(panel)
    if test == "auto":
        notes += scope_notes(panel, over_of("auto", panel.n_systems))
    if swapped in ("both", "inputs"):
        notes.append(
            "The test asks whether the two metrics are exchangeable on these very outputs; whether a difference would hold "
            "for other systems and inputs is another question, asked by test=auto."
        )
    lost = int(tests.undefined.sum())
    if lost:
        notes.append(f"{lost} draws had no defined correlation and are left out of p.")
    if facts["untested"]:
        lost = sum(np.isnan(row["p"]) for row in rows)
        notes.append(f"{lost} pairs could not be tested ({facts['untested']}).")
    return notes


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _too_few_draws(tests: PairTests, rows: list[Row], correction: str, level: float) -> list[str]:
    """A p-value of so many draws is at least 1/(draws + 1); Holm multiplies the smallest by the number of pairs."""
    pairs = len(tests.pairs)
    decided = any(row["significant"] for row in rows)
    if decided or correction != "holm" or not tests.draws or pairs / (tests.draws + 1) < level:
        return []
    needed = int(pairs / level) + 1
    return [
        f"too few draws to decide: with {tests.draws} draws and {pairs} pairs no corrected p can be below {level:g}; "
        f"say --draws {needed} or compare fewer metrics."
    ]
