"""Is one metric really better than another? Tests of all pairs of metrics (gao2025, section 5.1; novikova2017, 5)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, counted, evaluated, measures_of, people_note, signature
from nlgauge.analyses.agreement.intervals import scope_notes, speaks_of_these_only
from nlgauge.data.panel import Panel
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.number import sentence
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.correlation.profiles import profile_of
from nlgauge.stats.resampling.bootstrap import bootstrap_test
from nlgauge.stats.resampling.contrasts import Swaps, contrasts, difference_tests
from nlgauge.stats.resampling.draws import Swap
from nlgauge.stats.resampling.jackknife import over_of, too_few, unit_word
from nlgauge.stats.tests.corrections import CORRECTION_WORDS, CORRECTIONS
from nlgauge.stats.tests.permutation import PairTests, permutation_pairs
from nlgauge.stats.tests.williams import williams_pairs
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array

Test = Literal["auto", "permutation", "williams", "bootstrap"]
Correction = Literal["simultaneous", "holm", "bh", "none"]
SIMULTANEOUS = (
    "Corrected p-values are simultaneous (max-t: the largest of all differences, from the jackknife's correlation of "
    "errors)"
)


@analysis("significance", paper="gao2025", question="Is one metric really better than another?")
def significance(
    panel: Panel,
    *,
    measure: Named = "input/pairwise-accuracy",
    test: Test = "auto",
    how: Swap | None = None,
    draws: int | None = None,
    correction: Correction | None = None,
    level: float = 0.05,
    profile: str = "nlgauge",
    seed: int = 0,
    progress: Progress | None = None,
) -> Table:
    """One row per pair, the better metric first: difference, p, corrected p.

    `auto` tests whether the difference would hold for systems and inputs like these (with fewer than six systems, or
    families of systems: for inputs like these); docs/trust.md shows its error rates. Its corrected p-values are
    simultaneous over all pairs. `permutation` with how=both, the test of gao2025 and nlpstats, is about these very
    outputs; naming `how` or a profile selects it, and Holm's correction. The sign of metrics for which lower is better
    is flipped.
    """
    chosen = measures_of(measure)[0]
    if len(panel.metrics) < 2:
        raise NeedsMissing(
            f"comparing metrics needs at least two; found {len(panel.metrics)}.",
            data=panel.name,
            code="too_few_metrics",
        )
    stacked = panel.oriented()
    found = evaluated(panel, [chosen])
    values = found.value[:, 0]
    if np.isnan(values).all():
        reason = found.reason[0, 0]
        raise NeedsMissing(f"{chosen}: {reason}", data=panel.name, aspect=panel.aspect, code="undefined")
    # Best first; a metric without a value cannot be compared and stands last.
    order = sorted(range(len(values)), key=lambda k: (np.isnan(values[k]), -values[k]))
    if test == "auto" and (how is not None or profile != "nlgauge"):
        test = "permutation"
    # A profile that asks whether the second metric is better is given the better one second.
    second = test in ("permutation", "bootstrap") and profile_of(profile).alternative == "less"
    place = order[::-1] if second else order
    asked = PairTest(test, how, draws, profile, seed)
    correction = correction or ("simultaneous" if test == "auto" else "holm")
    if correction == "simultaneous" and test != "auto":
        raise NameUnknown(f"correction=simultaneous belongs to test=auto; for test={test} use holm, bh or none.")
    together = marginal = None
    if test == "auto":
        together = panel.once(  # `ranking` and `significance` rest on the same tests
            ("contrasts", tuple(place), str(chosen), draws, seed, level),
            lambda: contrasts(
                stacked[place], panel.human, chosen, clusters=panel.clusters, families=panel.families,
                level=1 - level, swaps=Swaps(draws or Swaps().draws, seed), progress=progress,
            ),
        )  # fmt: skip
        tests, marginal = together.tests, together.marginal_level
    else:
        tests = panel.once(
            ("pair tests", tuple(place), str(chosen), asked),
            lambda: run_test(stacked[place], panel.human, [chosen], asked, progress),
        )
    if correction == "simultaneous" and together is not None:
        adjusted_p = together.pairs.p[tests.pairs[:, 0], tests.pairs[:, 1]]
    else:
        adjusted_p = CORRECTIONS[correction](tests.p[:, 0])
    names = [panel.names[k] for k in place]
    rows = [
        {**_ordered(pair[::-1] if second else pair, gap * (-1.0 if second else 1.0)), "aspect": panel.aspect,
         "measure": str(chosen),
         "difference": abs(gap), "p": p, "p_corrected": adjusted, "significant": bool(adjusted < level), "n": int(n)}
        for pair, gap, p, adjusted, n in zip(
            [(names[i], names[j]) for i, j in tests.pairs], tests.difference[:, 0].tolist(), tests.p[:, 0].tolist(),
            adjusted_p.tolist(), tests.cells, strict=True,
        )
    ]  # fmt: skip
    rank = {panel.names[k]: at for at, k in enumerate(order)}
    swapped = profile_of(profile, how).swap if test == "permutation" else None
    facts = {
        "these_systems_only": test == "auto" and speaks_of_these_only(panel),
        "untested": _untested(panel, rows, test),
        "marginal_level": marginal,
    }
    rows.sort(key=lambda row: (rank[row["better"]], rank[row["worse"]]))
    return Table(
        title=Title(panel.name, f"differences between metrics on {panel.aspect}, {chosen}"),
        rows=rows,
        layout=Layout("better", "worse", "p_corrected") if len(names) <= 12 else None,
        shown=["better", "worse", "difference", "p", "p_corrected", "significant"],
        definitions={str(chosen): chosen.definition},
        method=f"{sentence(tests.method)}. {_correction_words(correction)} over {len(rows)} "
        f"pair{'s' * (len(rows) != 1)}.",
        notes=[*_notes(panel, tests, rows, facts, test, swapped), *_too_few_draws(tests, rows, correction, level)],
        facts=facts,
        signature=signature(panel, measure=chosen, test=test, profile=profile, correction=correction, seed=seed),
    )


@dataclass(frozen=True)
class PairTest:
    """A test of the difference between two metrics, with its options."""

    test: Test = "auto"
    how: Swap | None = None
    draws: int | None = None
    profile: str = "nlgauge"
    seed: int = 0


def _correction_words(correction: Correction) -> str:
    return SIMULTANEOUS if correction == "simultaneous" else sentence(CORRECTION_WORDS[correction])


def run_test(
    stacked: Array, human: Array, measures: list[Measure], chosen: PairTest, progress: Progress | None = None
) -> PairTests:
    """The chosen test on all pairs, without correction."""
    if chosen.test == "williams":
        absolute = profile_of(chosen.profile).williams_absolute
        return williams_pairs(stacked, human, measures, absolute=absolute, progress=progress)
    if chosen.test == "auto":
        swaps = Swaps(chosen.draws or Swaps().draws, chosen.seed)
        return difference_tests(stacked, human, measures, swaps=swaps, progress=progress)
    if chosen.test == "permutation":
        options: dict[str, Any] = {"draws": chosen.draws, "seed": chosen.seed, "progress": progress}
        return permutation_pairs(stacked, human, measures, how=chosen.how, profile=chosen.profile, **options)
    return _bootstrap_pairs(stacked, human, measures, chosen, progress)


def _bootstrap_pairs(
    stacked: Array, human: Array, measures: list[Measure], chosen: PairTest, progress: Progress | None
) -> PairTests:
    draws, how = chosen.draws or 1000, chosen.how or "both"
    pairs = np.array(list(combinations(range(len(stacked)), 2)), np.int64)
    p, difference = np.empty((2, len(pairs), len(measures)))
    for at, (i, j) in enumerate(counted(pairs.tolist(), progress)):
        p[at], difference[at] = bootstrap_test(
            stacked[i], stacked[j], human, measures, how=how,  # type: ignore[arg-type]
            draws=draws, seed=chosen.seed, profile=chosen.profile,
        )  # fmt: skip
    both = np.isfinite(stacked)[pairs].all(axis=1) & np.isfinite(human)
    unit = "systems and inputs" if how == "both" else how
    method = f"bootstrap test of the difference, resampling {unit}, two-sided, {draws} draws, seed {chosen.seed}"
    names, none = tuple(str(m) for m in measures), np.zeros(p.shape, np.int64)
    return PairTests(names, pairs, difference, p, none, both.sum(axis=(1, 2)), draws, method)


def _ordered(pair: tuple[str, str], difference: float) -> Row:
    """Where scores are missing, the outputs that both metrics scored may turn the order of the two round."""
    better, worse = pair[::-1] if difference < 0 else pair
    return {"better": better, "worse": worse}


def _untested(panel: Panel, rows: list[Row], test: Test) -> str | None:
    """Why pairs have no p-value, where there are such pairs."""
    if not any(np.isnan(row["p"]) for row in rows):
        return None
    units = len(set(panel.cluster_names)) or panel.n_inputs
    systems = len(set(panel.families or panel.systems))
    over = over_of("auto", systems)
    few = too_few(systems, units, over, "input", unit_word(panel.clusters), what="a test", families=panel.families)
    return few if few and test == "auto" else "no defined correlation"


def _notes(
    panel: Panel, tests: PairTests, rows: list[Row], facts: dict[str, Any], test: Test, swapped: str | None
) -> list[str]:
    notes = people_note(panel)
    if test == "auto":
        notes += scope_notes(panel, over_of("auto", len(set(panel.families or panel.systems))))
    if swapped in ("both", "inputs"):
        notes.append(
            "The test asks whether the two metrics are exchangeable on these very outputs; whether a difference would "
            "hold for other systems and inputs is another question, asked by test=auto."
        )
    lost = int(tests.undefined.sum())
    if lost:
        notes.append(f"{lost} draws had no defined correlation and are left out of p.")
    if facts["untested"]:
        lost = sum(np.isnan(row["p"]) for row in rows)
        notes.append(f"{lost} pairs could not be tested ({facts['untested']}).")
    return notes


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
