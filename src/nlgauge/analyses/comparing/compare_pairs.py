"""Significance tests of the differences between all pairs of metrics (Gao et al. 2025, section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, counted, evaluated, human_note, measures_of, signature
from nlgauge.analyses.agreement.intervals import limited_to_these_systems, scope_notes
from nlgauge.data.panel import Panel
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.number import sentence
from nlgauge.options import option
from nlgauge.stats.correlation.evaluate_groups import all_pairs
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.correlation.profiles import profile_of
from nlgauge.stats.resampling.bootstrap import bootstrap_test
from nlgauge.stats.resampling.contrasts import Contrasts, Swaps, contrasts, difference_tests
from nlgauge.stats.resampling.draws import Swap
from nlgauge.stats.resampling.jackknife import generalizes_to, too_few, unit_word
from nlgauge.stats.tests.corrections import CORRECTION_WORDS, CORRECTIONS
from nlgauge.stats.tests.permutation import PairTests, permutation_of_pairs
from nlgauge.stats.tests.williams import williams_pairs
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array, Ints

Test = Literal["auto", "permutation", "williams", "bootstrap"]
Correction = Literal["simultaneous", "holm", "bh", "none"]
SIMULTANEOUS = (
    "Corrected p-values are simultaneous (max-t: the largest of all differences, from the jackknife's correlation of "
    "errors)"
)


@analysis("compare-pairs", paper="gao2025", question="Which differences between metrics are significant?")
def compare_pairs(
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
    """Test every pair of metrics for a difference in their agreement with the human ratings.

    Returns
    -------
    Table
        One row per pair, the better metric first: difference, p, corrected p, significance, number of outputs.
        p is NaN for a pair that cannot be tested.

    Notes
    -----
    The sign of metrics for which lower is better is flipped. The simultaneous correction is max-t: the largest of
    all differences, from the jackknife's correlation of errors. docs/trust.md shows the error rates of `auto`.

    References
    ----------
    Deutsch, Dror and Roth (2021), A Statistical Analysis of Summarization Evaluation Metrics Using Resampling
    Methods; Williams (1959), The Comparison of Regression Variables; Gao et al. (2025), section 5.1.

    Examples
    --------
    $ nlgauge analyze compare-pairs scores.csv --measure system/pearson --test williams -o pairs.csv
    """
    chosen = measures_of(measure)[0]
    order = _best_first(panel, chosen)
    if test == "auto" and (how is not None or profile != "nlgauge"):
        test = "permutation"
    correction = correction or ("simultaneous" if test == "auto" else "holm")
    if correction == "simultaneous" and test != "auto":
        raise NameUnknown(f"correction=simultaneous requires test=auto; with test={test} use holm, bh or none.")
    # A profile with a one-sided test of the second metric gets the better one second.
    flipped = test in ("permutation", "bootstrap") and profile_of(profile).alternative == "less"
    place = order[::-1] if flipped else order
    tests, joint = _run_once(panel, chosen, place, PairTest(test, how, draws, profile, seed), level, progress)
    if correction == "simultaneous" and joint is not None:
        corrected = joint.pairs.p[tests.pairs[:, 0], tests.pairs[:, 1]]
    else:
        corrected = CORRECTIONS[correction](tests.p[:, 0])
    rows = _rows(panel, chosen, place, tests, corrected, flipped, level)
    rank = {panel.names[k]: at for at, k in enumerate(order)}
    rows.sort(key=lambda row: (rank[row["better"]], rank[row["worse"]]))
    swapped = profile_of(profile, how).swap if test == "permutation" else None
    facts = {
        "these_systems_only": test == "auto" and limited_to_these_systems(panel),
        "untested": _untested(panel, rows, test),
        "marginal_level": None if joint is None else joint.marginal_level,
    }
    return Table(
        title=Title(panel.name, f"differences between metrics on {panel.aspect}, {chosen}"),
        rows=rows,
        layout=Layout("better", "worse", "p_corrected") if len(panel.names) <= 12 else None,
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
    """Test of the difference between two metrics, with its options."""

    test: Test = "auto"
    how: Swap | None = None
    draws: int | None = None
    profile: str = "nlgauge"
    seed: int = 0


def _best_first(panel: Panel, measure: Measure) -> list[int]:
    """Return the metrics from best to worst; those without a value are last."""
    if len(panel.metrics) < 2:
        raise NeedsMissing(f"comparing metrics needs at least two; found {len(panel.metrics)}.", code="too_few_metrics")
    estimates = evaluated(panel, [measure])
    values = estimates.value[:, 0]
    if np.isnan(values).all():
        reason = estimates.reason[0, 0]
        raise NeedsMissing(f"{measure}: {reason}", code="undefined")
    return sorted(range(len(values)), key=lambda k: (np.isnan(values[k]), -values[k]))


def _run_once(
    panel: Panel, measure: Measure, place: list[int], options: PairTest, level: float, progress: Progress | None
) -> tuple[PairTests, Contrasts | None]:
    """Test all pairs of the metrics in this order; `compare` and `compare-pairs` use the same tests."""
    scores = panel.oriented()[place]
    if options.test != "auto":
        key: tuple[object, ...] = ("pair tests", tuple(place), str(measure), options)
        return panel.once(key, lambda: run_test(scores, panel.human, [measure], options, progress)), None
    joint = panel.once(
        ("contrasts", tuple(place), str(measure), options.draws, options.seed, level),
        lambda: contrasts(
            scores,
            panel.human,
            measure,
            clusters=panel.clusters,
            families=panel.families,
            level=1 - level,
            swaps=Swaps(options.draws or Swaps().draws, options.seed),
            progress=progress,
        ),
    )
    return joint.tests, joint


def _rows(
    panel: Panel, measure: Measure, place: list[int], tests: PairTests, corrected: Array, flipped: bool, level: float
) -> list[Row]:
    """Return a row per pair, the better metric first."""
    names = [panel.names[k] for k in place]
    return [
        {
            **_ordered(pair[::-1] if flipped else pair, gap * (-1.0 if flipped else 1.0)),
            "aspect": panel.aspect,
            "measure": str(measure),
            "difference": abs(gap),
            "p": p,
            "p_corrected": adjusted,
            "significant": bool(adjusted < level),
            "n": int(n),
        }
        for pair, gap, p, adjusted, n in zip(
            [(names[i], names[j]) for i, j in tests.pairs],
            tests.difference[:, 0].tolist(),
            tests.p[:, 0].tolist(),
            corrected.tolist(),
            tests.cells,
            strict=True,
        )
    ]


def _correction_words(correction: Correction) -> str:
    return SIMULTANEOUS if correction == "simultaneous" else sentence(CORRECTION_WORDS[correction])


def run_test(
    stacked: Array,
    human: Array,
    measures: list[Measure],
    chosen: PairTest,
    progress: Progress | None = None,
    pairs: Ints | None = None,
) -> PairTests:
    """Run the chosen test on all pairs, without correction; `pairs`: those of the permutation test."""
    if chosen.test == "williams":
        absolute = profile_of(chosen.profile).williams_absolute
        return williams_pairs(stacked, human, measures, absolute=absolute, progress=progress)
    if chosen.test == "auto":
        swaps = Swaps(chosen.draws or Swaps().draws, chosen.seed)
        return difference_tests(stacked, human, measures, swaps=swaps, progress=progress)
    if chosen.test == "permutation":
        rules = profile_of(chosen.profile, chosen.how)
        rules = rules if chosen.draws is None else replace(rules, draws=chosen.draws)
        pairs = all_pairs(len(stacked)) if pairs is None else pairs
        return permutation_of_pairs(stacked, human, measures, pairs, rules, seed=chosen.seed, progress=progress)
    return _bootstrap_pairs(stacked, human, measures, chosen, progress)


def _bootstrap_pairs(
    stacked: Array, human: Array, measures: list[Measure], chosen: PairTest, progress: Progress | None
) -> PairTests:
    draws, how = chosen.draws or 1000, chosen.how or "both"
    pairs = np.array(list(combinations(range(len(stacked)), 2)), np.int64)
    p, difference = np.empty((2, len(pairs), len(measures)))
    for at, (i, j) in enumerate(counted(pairs.tolist(), progress)):
        p[at], difference[at] = bootstrap_test(
            stacked[i],
            stacked[j],
            human,
            measures,
            how=how,  # type: ignore[arg-type]
            draws=draws,
            seed=chosen.seed,
            profile=chosen.profile,
        )
    both = np.isfinite(stacked)[pairs].all(axis=1) & np.isfinite(human)
    unit = "systems and inputs" if how == "both" else how
    method = f"bootstrap test of the difference, resampling {unit}, two-sided, {draws} draws, seed {chosen.seed}"
    names, none = tuple(str(m) for m in measures), np.zeros(p.shape, np.int64)
    return PairTests(names, pairs, difference, p, none, both.sum(axis=(1, 2)), draws, method)


def _ordered(pair: tuple[str, str], difference: float) -> Row:
    """Name pairs whose order is reversed on the outputs that both metrics scored."""
    better, worse = pair[::-1] if difference < 0 else pair
    return {"better": better, "worse": worse}


def _untested(panel: Panel, rows: list[Row], test: Test) -> str | None:
    """Return why pairs have no p-value, if there are such pairs."""
    if not any(np.isnan(row["p"]) for row in rows):
        return None
    units = len(set(panel.cluster_names)) or panel.n_inputs
    systems = len(set(panel.families or panel.systems))
    over = generalizes_to("auto", systems)
    few = too_few(systems, units, over, "input", unit_word(panel.clusters), what="a test", families=panel.families)
    return few if few and test == "auto" else "no defined correlation"


def _notes(
    panel: Panel, tests: PairTests, rows: list[Row], facts: dict[str, Any], test: Test, swapped: str | None
) -> list[str]:
    notes = human_note(panel)
    if test == "auto":
        notes += scope_notes(panel, generalizes_to("auto", len(set(panel.families or panel.systems))))
    if swapped in ("both", "inputs"):
        notes.append(
            "The test asks whether the two metrics are exchangeable on these outputs. To test whether a difference "
            f"generalizes to other systems and inputs, use {option('test', 'auto')}."
        )
    lost = int(tests.undefined.sum())
    if lost:
        notes.append(f"{lost} draws are left out because their correlation is undefined.")
    if facts["untested"]:
        lost = sum(np.isnan(row["p"]) for row in rows)
        notes.append(f"{lost} pairs could not be tested ({facts['untested']}).")
    return notes


def _too_few_draws(tests: PairTests, rows: list[Row], correction: str, level: float) -> list[str]:
    """Warn if no corrected p-value can be significant: p is at least 1 / (draws + 1), and Holm multiplies the "
    "smallest."""
    pairs = len(tests.pairs)
    decided = any(row["significant"] for row in rows)
    if decided or correction != "holm" or not tests.draws or pairs / (tests.draws + 1) < level:
        return []
    needed = int(pairs / level) + 1
    return [
        f"too few draws: with {tests.draws} draws and {pairs} pairs no corrected p can be below {level:g}; "
        f"set {option('draws', needed)} or compare fewer metrics."
    ]
