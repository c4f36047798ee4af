"""Inter-annotator agreement: Krippendorff's alpha, ICC and kappa (Novikova et al. 2017, section 5)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import human_note, ratings_of
from nlgauge.analyses.verdicts.class_verdicts import annotator_counts
from nlgauge.data.panel import Panel
from nlgauge.data.units import has_parts
from nlgauge.errors import NeedsMissing
from nlgauge.options import option
from nlgauge.stats.agreement.alpha import alpha
from nlgauge.stats.agreement.icc import NO_DIFFERENCE, icc
from nlgauge.stats.agreement.kappa import fleiss_kappa, mean_pairwise_kappa
from nlgauge.stats.agreement.label_sets import (
    ac1_of_counts,
    alpha_of_counts,
    code_counts,
    pair_agreement,
    set_distances,
)
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array, Ints

INTERVALS = "score interval of the disagreement with the effective sample size of its jackknife variance."
MAX_CATEGORIES = 20  # different ratings, for kappas


@analysis(
    "agreement",
    paper="novikova2017",
    question="How well do the annotators agree with each other?",
    also=("ceiling", "replacement"),
    classes=True,
)
def agreement(
    panel: Panel,
    *,
    level: Literal["nominal", "ordinal", "interval", "ratio"] = "interval",
    draws: int = 1000,
    bootstrap: Literal["units", "pairs"] = "units",
    seed: int = 0,
) -> Table:
    """Compute inter-annotator agreement: Krippendorff's alpha, ICC, Fleiss' and Cohen's kappa.

    Parameters
    ----------
    level : {'nominal', 'ordinal', 'interval', 'ratio'}, default 'interval'
        Level of measurement of the ratings, which sets the difference function of alpha.
    draws : int, default 1000
        Bootstrap samples for the interval of alpha.
    bootstrap : {'units', 'pairs'}, default 'units'
        Resampling unit of the interval of alpha: outputs (`units`), or `pairs` of ratings as in the KALPHA macro.

    Returns
    -------
    Table
        One row per coefficient: value, confidence interval, number of outputs used and left out. An undefined
        coefficient is NaN, and `reason` explains it.

    Notes
    -----
    alpha = 1 − observed / expected disagreement (Krippendorff 2011). The forms of the ICC follow Shrout and Fleiss
    (1979) and McGraw and Wong (1996); where annotator IDs are unknown only the one-way form ICC(1) is defined.
    Cohen's kappa has quadratic weights and is the mean over pairs of annotators. Kappas are computed for at most
    20 different ratings.

    Where outputs are not independent (trials of an input, parts of an output, texts about one document), all of them
    count, and intervals are over clusters: those of alpha, AC1 and the agreement of two annotators are score intervals
    of the disagreement, those of the ICC come from a jackknife and hold for these annotators. `draws`, `bootstrap` and
    `seed` then have no effect.

    Where the aspect has classes without an order, the coefficients are nominal alpha, Gwet's AC1 (2008), Fleiss' and
    Cohen's kappa and the agreement of two annotators; of sets of labels, alpha with the MASI distance (Passonneau 2006)
    and with the Jaccard distance. Their intervals are over clusters of outputs, without random draws.

    Examples
    --------
    >>> import nlgauge as ng
    >>> round(ng.agreement(ng.example(), draws=200).rows[0]["value"], 2)
    0.79

    $ nlgauge analyze agreement ratings.csv --columns rater=annotator
    """
    if panel.scale.unordered:
        return _class_agreement(panel)
    ratings = ratings_of(panel, "agreement")
    units = ratings.reshape(len(ratings), -1)
    rated = np.flatnonzero(~np.isnan(units).all(axis=0))
    units = units[:, rated]
    clusters = panel.row_codes(rated % panel.n_inputs) if panel.clusters else None
    if clusters is not None and bootstrap == "pairs":
        raise NeedsMissing(
            f"{option('bootstrap', 'pairs')} takes outputs as independent; here several share a unit "
            f"({panel.cluster_column}).",
            code="unsuited_option",
        )
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    krippendorff = alpha(units, level, rng=rng, draws=draws, bootstrap=bootstrap, clusters=clusters)
    rows = [
        _row(panel, f"Krippendorff's alpha ({level})", krippendorff, krippendorff.units, krippendorff.dropped_units)
    ]
    # With missing ratings few or no outputs are complete: use the ratings of each output without annotator IDs.
    slots = units if not np.isnan(units).any() else side_by_side(units)
    # Annotators with IDs can have missing ratings: then these are the reason.
    unknown = panel.nameless and not panel.crowd
    forms = icc(
        slots,
        persons=panel.persons and slots is units,
        unequal=bool(np.isnan(slots).any()),
        anonymous="annotator IDs are unknown" if unknown else "not every annotator rated every output",
        clusters=clusters,
    )
    rows += [_row(panel, f.name, f, forms.units, forms.dropped_units) for f in forms.forms.values()]
    values = np.unique(units[~np.isnan(units)])
    if len(values) <= MAX_CATEGORIES:
        rows += _kappa_rows(panel, units, slots, "quadratic", clustered=clusters is not None)
        if clusters is not None:
            codes = np.where(np.isnan(units), np.nan, np.searchsorted(values, units))
            rows += _chance_free_rows(panel, code_counts(codes, len(values)), clusters)
    notes = human_note(panel)
    if slots is not units:
        notes.append(
            "Not every annotator rated every output: ICC and Fleiss' kappa ignore which annotator gave a rating."
        )
    if not panel.persons:
        notes.append(f"Only the one-way ICC is computed: {panel.nameless}.")
    end = " Confidence intervals assume independent outputs."
    settings = f"raters:{len(ratings)}|aspect:{panel.aspect}|draws:{draws}|of:{bootstrap}|seed:{seed}"
    if clusters is not None:
        notes.append(f"Confidence intervals are over clusters of outputs: {panel.cluster_column}.")
        end, settings = "", f"raters:{len(ratings)}|aspect:{panel.aspect}|level:{level}|clusters:{panel.cluster_column}"
    of = "parts" if panel.data is not None and has_parts(panel.data.samples) else "outputs"
    return _table(panel, rows, f"{forms.method}. Alpha: {krippendorff.method}.{end}", settings, notes, of)


def _kappa_rows(
    panel: Panel, units: Array, slots: Array, weights: Literal["none", "quadratic"], *, clustered: bool
) -> list[Row]:
    """Return Fleiss' kappa, and Cohen's where annotators have IDs."""
    fleiss = fleiss_kappa(slots)
    rows = [_row(panel, "Fleiss' kappa", fleiss, fleiss.units, fleiss.dropped_units)]
    if panel.persons:
        name = "Cohen's kappa, quadratic, mean of pairs" if weights == "quadratic" else "Cohen's kappa, mean of pairs"
        rows.append(_row(panel, name, mean_pairwise_kappa(units, weights), units.shape[1], 0))
    for row in rows if clustered else []:
        row["reason"] = row["reason"] or "no confidence interval is computed for kappas"
    return rows


def _chance_free_rows(panel: Panel, counts: Array, clusters: Ints | None) -> list[Row]:
    """Return AC1 and the agreement of two annotators, which do not fall where nearly all ratings are equal."""
    alone = int((counts.sum(axis=1) == 1).sum())
    nominal = set_distances(np.eye(counts.shape[1]), "nominal")
    figures = {
        "Gwet's AC1": ac1_of_counts(counts, clusters),
        "agreement of two annotators": pair_agreement(counts, nominal, clusters),
    }
    return [_row(panel, name, figure, figure.n, alone) for name, figure in figures.items()]


def _class_agreement(panel: Panel) -> Table:
    """Compute inter-annotator agreement on classes or on sets of labels."""
    cube = ratings_of(panel, "agreement")
    units = cube.reshape(len(cube), -1)
    counts, clusters = annotator_counts(panel)
    members = panel.scale.members()
    left_out = int((counts.sum(axis=1) == 1).sum())
    if panel.scale.kind == "multilabel":
        masi, jaccard = set_distances(members, "masi"), set_distances(members, "jaccard")
        figures = {
            "Krippendorff's alpha (MASI distance)": alpha_of_counts(counts, masi, clusters),
            "Krippendorff's alpha (Jaccard distance)": alpha_of_counts(counts, jaccard, clusters),
            "mean Jaccard similarity of two annotators": pair_agreement(counts, jaccard, clusters),
        }
        rows = [_row(panel, name, figure, figure.n, left_out) for name, figure in figures.items()]
    else:
        nominal = alpha_of_counts(counts, set_distances(members, "nominal"), clusters)
        slots = units if not np.isnan(units).any() else side_by_side(units)
        rows = [
            _row(panel, "Krippendorff's alpha (nominal)", nominal, nominal.n, left_out),
            *_chance_free_rows(panel, counts, clusters),
            *_kappa_rows(panel, units[:, counts.any(axis=1)], slots, "none", clustered=False),
        ]
    over = "clusters of outputs" if clusters is not None else "outputs"
    method = f"95% confidence intervals over {over}: {INTERVALS}"
    return _table(panel, rows, method, f"raters:{len(cube)}|aspect:{panel.aspect}|scale:{panel.scale.kind}")


def _table(
    panel: Panel, rows: list[Row], method: str, settings: str, notes: list[str] | None = None, of: str = "outputs"
) -> Table:
    return Table(
        title=Title(panel.name, f"inter-annotator agreement on {panel.aspect}"),
        rows=rows,
        shown=["coefficient", "value", "low", "high", "n", "left_out", "reason"],
        heads={"n": of},
        method=method,
        notes=human_note(panel) if notes is None else notes,
        signature=settings,
    )


def side_by_side(units: np.ndarray) -> np.ndarray:
    """Move the ratings of each unit to the first rows; the array has as many rows as a unit has ratings at most."""
    order = np.argsort(np.isnan(units), axis=0, kind="stable")
    moved = np.take_along_axis(units, order, axis=0)
    return moved[: int((~np.isnan(units)).sum(axis=0).max())]


def _row(panel: Panel, name: str, result: Any, units: int, dropped: int) -> Row:
    """Return the row of a coefficient; kappas have no interval, nor has a value that is equal in all resamples."""
    low, high, reason = float(getattr(result, "low", np.nan)), float(getattr(result, "high", np.nan)), result.reason
    if low == high:
        low, high, reason = np.nan, np.nan, NO_DIFFERENCE
    return {
        "coefficient": name,
        "aspect": panel.aspect,
        "value": float(result.value),
        "low": low,
        "high": high,
        "n": int(units),
        "left_out": int(dropped),
        "reason": reason or None,
    }
