"""Sample size: labels needed for an estimate, a gate or a comparison of two systems, simulated from existing labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import counted, human_note, signature
from nlgauge.analyses.design._delegate_labels import delegations
from nlgauge.analyses.estimates._partly_labeled import CLUSTERS, rows_of
from nlgauge.analyses.verdicts._labeled import human_pass, judge_verdicts
from nlgauge.analyses.verdicts.verdicts import SYNONYMS
from nlgauge.data.panel import Panel
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.number import number
from nlgauge.options import call, option
from nlgauge.stats.agreement.two_by_two import cell_counts, figure_of, figures_of
from nlgauge.stats.design.label_sampling import ClusterSampler
from nlgauge.stats.estimation.means import PartlyLabeled, mean_estimate
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array, Ints, Mask

Aim = Literal["estimate", "gate", "compare", "delegate"]
SIZES = (20, 30, 50, 80, 120, 200, 300, 500, 800, 1200, 2000)
MIN_LABELS = 20  # labels that the simulation requires
MAX_ROWS = 2000  # outputs of a simulated file
ALONE = "human"  # labels without a judge, in the column `metric`
WHAT = {
    "estimate": "mean width of the confidence interval of the mean",
    "gate": "share of studies whose confidence interval excludes the gate",
    "delegate": "share of studies whose rule lets the judge decide the wanted share of outputs",
    "compare": "power: share of studies in which the better system is significantly better, two-sided at .05",
}


@analysis("labels-needed", question="How many labels are needed (sample size)?")
def labels_needed(
    panel: Panel,
    *,
    goal: Aim = "estimate",
    width: float | None = None,
    gate: str = "kappa=.6",
    human_pass_from: float | None = None,
    judge_pass_from: float | None = None,
    systems: Sequence[str] | None = None,
    share: float = 0.5,
    error: float = 0.05,
    power: float = 0.8,
    sizes: Sequence[int] | None = None,
    trials: int = 100,
    seed: int = 0,
    progress: Progress | None = None,
) -> Table:
    """Estimate how many labels an estimate, a gate or a comparison of two systems needs.

    The file must hold at least 20 labels.

    Parameters
    ----------
    goal : {'estimate', 'gate', 'compare', 'delegate'}, default 'estimate'
        What the labels are for: the interval of a mean (`estimate`), a decision on a limit (`gate`), or the
        order of two systems (`compare`).
    width : float, optional
        For goal=estimate: target width of the confidence interval, on the scale of the estimate. Default: one tenth of
        its range.
    gate : str, default 'kappa=.6'
        For goal=gate: statistic of `verdicts` and its minimum value.
    systems : sequence of str, optional
        For goal=compare: two systems. Default: the two with the highest human ratings.
    share : float, default 0.5
        For goal=delegate: share of the outputs that the judge should decide alone (`analyze delegate`).
    error : float, default 0.05
        For goal=delegate: maximum error rate of these verdicts, with 90% confidence.
    power : float, default 0.8
        For goal=gate and goal=compare: power, the share of simulated studies that reach a decision.
    sizes : sequence of int, optional
        Numbers of labels to simulate, each at least 4. Default: from 20 up to the first sufficient number.

    Returns
    -------
    Table
        One row per judge and number of labels: mean width of the interval, or share of studies with a
        decision, and its standard error. The sentences above the table say how many labels are enough.

    Notes
    -----
    A study draws labeled outputs with replacement, each with its judge's score. Outputs of one cluster
    (conversation, document, or input with outputs of several systems) are as similar as in the data; intervals are
    those of `estimate` and `verdicts`.
    """
    steps = sorted({int(s) for s in sizes}) if sizes else list(SIZES)
    _check_options(power, trials, steps)
    n_known = int(np.isfinite(panel.human).sum())
    if n_known < MIN_LABELS:
        raise NeedsMissing(
            f"planning requires at least {MIN_LABELS} labels; found {n_known}. Label more outputs with "
            f"{call('label FILE', budget=MIN_LABELS)}.",
            code="too_few_labels",
        )
    file = _file(panel)
    target = _target_width(panel, file, width) if goal == "estimate" else power
    rows: list[Row] = []
    if goal == "delegate":
        studies = list(delegations(panel, file.sampler, _drawn, share, error, human_pass_from))
    elif goal == "gate":
        studies = list(_gates(panel, file, gate, human_pass_from, judge_pass_from))
    else:
        studies = list(_widths(panel, file) if goal == "estimate" else _comparisons(panel, file, systems))
    for name, study in counted(studies, progress):
        found = _curve(study, steps, trials, seed, target, goal == "estimate", sizes is not None)
        shared = {"metric": name, "aspect": panel.aspect, "measure": gate.partition("=")[0] if goal == "gate" else goal}
        rows += [
            {**shared, "labels": size, "clusters": clusters, "value": value, "se": se, "target": target, "n": n_known}
            for size, clusters, value, se in found
        ]
    answers = [_answer(rows, name, target, goal, file) for name, _ in studies]
    clustered = any(row["clusters"] is not None for row in rows)
    return Table(
        title=Title(panel.name, f"labels needed for {_purpose(goal, target, gate, share, error)}, {panel.aspect}"),
        rows=rows,
        shown=["metric", "labels", *(["clusters"] if clustered else []), "value", "se"],
        heads={"metric": "judge", "clusters": file.noun, "value": "width" if goal == "estimate" else "decided"},
        definitions={"value": WHAT[goal]},
        method=f"{trials} simulated studies per sample size, drawn with replacement from {n_known} labeled outputs; "
        f"{_design_text(file, clustered)}, seed {seed}.",
        answers=[*answers, *(_raters(panel, rows, target) if goal == "estimate" else [])],
        notes=[*(_sureness(n_known) if goal == "estimate" else []), *human_note(panel)],
        signature=signature(panel, goal=goal, trials=trials, seed=seed),
    )


def _purpose(goal: Aim, target: float, gate: str, share: float, error: float) -> str:
    """State what the labels are for."""
    return {
        "estimate": f"an interval of width {number(target)}",
        "gate": f"a decision on {gate}",
        "delegate": f"a judge that decides {share:.0%} alone with an error rate of at most {error:.3g}",
        "compare": "the order of two systems",
    }[goal]


def _check_options(power: float, trials: int, sizes: Sequence[int]) -> None:
    """Raise an error for options outside their range."""
    if not 0 < power < 1 or trials < 2:
        raise NlgaugeError(
            f"{option('power')} must be between 0 and 1 and {option('trials')} at least 2; got {power:g} and {trials}."
        )
    if sizes[0] < 4:
        raise NlgaugeError(f"{option('sizes')} must be at least 4 labels; got {sizes[0]}.")


def _target_width(panel: Panel, file: _File, width: float | None) -> float:
    """Return the requested width, or a tenth of the range of the estimate."""
    if width is None:
        width = float(np.ptp(file.scaled(panel.human[np.isfinite(panel.human)]))) / 10
    if width <= 0:
        raise NlgaugeError(f"{option('width')} must be above 0; got {width:g}.")
    return width


def _design_text(file: _File, clustered: bool) -> str:
    """Describe the sampling design and the intervals."""
    drawn = f"whole {file.noun} labeled, as in these data" if clustered and file.whole else "labels drawn at random"
    together = f", clustered by {file.column or 'input'}" if clustered else ""
    return f"{drawn}; 95% confidence intervals{together}"


def _sureness(labels: int) -> list[str]:
    """State how precisely these labels determine the number of labels for a width."""
    return [
        f"the SD estimated from {labels:,} labels has an error of about ±{196 / np.sqrt(2 * labels):.0f}% (if normal), "
        "the number of labels for a width of twice that."
    ]


@dataclass(frozen=True)
class _File:
    """Outputs of the file with and without labels, as in `estimate`."""

    unit: dict[str, int]  # cluster of each input
    sizes: Ints  # outputs per cluster
    column: str  # of clusters; empty if inputs are the clusters
    whole: bool  # annotators label whole clusters, or most of each
    share: bool | None  # whether labels are pass and fail
    levels: tuple[float, ...]  # values that annotators gave

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return int(self.sizes.sum())

    @property
    def noun(self) -> str:
        """Return the plural noun for clusters."""
        return "clusters" if self.column else "inputs"

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Return the ends of the rating scale."""
        return None if self.share or len(self.levels) < 2 else (min(self.levels), max(self.levels))

    def scaled(self, human: Array) -> Array:
        """Return labels as `estimate` uses them: of two values, the share of the higher one."""
        if not self.share or len(self.levels) != 2:
            return human
        low, high = self.levels
        return np.asarray((human - low) / (high - low))

    def sampler(self, panel: Panel, inputs: Ints, per_input: bool = False) -> ClusterSampler | None:
        """Return the clusters from which simulated studies are drawn; None if outputs are independent.

        per_input: a row is an input, otherwise an output.
        """
        sizes = np.bincount(list(self.unit.values())) if per_input else self.sizes
        if sizes.max() < 2:
            return None
        codes = np.array([self.unit[panel.inputs[i]] for i in inputs], np.int64)
        return ClusterSampler(np.sort(sizes), np.unique(codes, return_inverse=True)[1].astype(np.int64), self.whole)


def _file(panel: Panel) -> _File:
    """Read clusters, share and bounds from all outputs of the file, with the rules of `estimate`."""
    column, share, levels = panel.cluster_column, None, tuple[float, ...]()
    if panel.data is None:
        codes = panel.unit_codes(np.arange(panel.n_inputs))
        unit = dict(zip(panel.inputs, codes.tolist(), strict=True))
        sizes = np.bincount(codes) * panel.n_systems
    else:
        rows = rows_of(panel.data, panel.aspect, [], keep_human=True)
        rows = rows.of(np.isin(rows.system, panel.systems))
        codes = np.unique(rows.unit, return_inverse=True)[1]
        unit, sizes = dict(zip(rows.input.tolist(), codes.tolist(), strict=True)), np.bincount(codes)
        column, share, levels = rows.clustered, rows.share, rows.levels
    labeled = np.bincount(
        [unit[panel.inputs[i]] for i in np.nonzero(np.isfinite(panel.human))[1]], minlength=len(sizes)
    )
    # If whole clusters are labeled, all rows in a cluster with a label are labeled. If labels are
    # drawn at random, the share is that of labels among all rows. The closer of the two is assumed.
    others, drawn = (float((count[labeled > 0] - 1).sum()) for count in (sizes, labeled))
    whole = drawn >= others * (1 + labeled.sum() / sizes.sum()) / 2
    return _File(unit, sizes.astype(np.int64), column or "", bool(whole), share, levels)


# Labels, generator, trials -> one value per trial, and the number of labeled clusters if rows are clustered.
Study = Callable[[int, np.random.Generator, int], tuple[Array, int | None]]


def _drawn(
    sampler: ClusterSampler | None, affinity: float | Array, pool: int, rows: int, trials: int, rng: np.random.Generator
) -> tuple[Ints, Ints | None]:
    """Draw rows of simulated files from the labeled rows, trials × rows, and the cluster of each."""
    if sampler is None:
        return rng.integers(pool, size=(trials, rows)), None
    clusters = sampler.layout(rows, rng)
    return sampler.draw(clusters, affinity, trials, rng), clusters


def _curve(
    study: Study, steps: Sequence[int], trials: int, seed: int, target: float, falls: bool, all_of_them: bool
) -> list[tuple[int, int | None, float, float]]:
    """Simulate growing sizes up to the first that reaches the target, with the same draws for every judge."""
    found: list[tuple[int, int | None, float, float]] = []
    for size, own in zip(steps, np.random.SeedSequence(seed).spawn(len(steps)), strict=True):
        values, clusters = study(size, np.random.default_rng(own), trials)
        known = values[np.isfinite(values)]
        value = float(known.mean()) if len(known) else float("nan")
        se = float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else float("nan")
        found.append((size, clusters, value, se))
        if not all_of_them and (value <= target if falls else value >= target):
            break
    return found


def _widths(panel: Panel, file: _File) -> Iterator[tuple[str, Study]]:
    known = np.isfinite(panel.human)
    for name in (ALONE, *panel.names):
        score = None if name == ALONE else dict(zip(panel.names, panel.oriented(), strict=True))[name]
        both = known if score is None else known & np.isfinite(score)
        if both.sum() < MIN_LABELS:
            continue
        y, x = file.scaled(panel.human[both]), None if score is None else score[both]
        sampler = file.sampler(panel, np.nonzero(both)[1])
        # The judge's scores are used on all rows, its errors on the labeled ones.
        parts = (y, y) if x is None else (y - _slope(y, x) * x, x)
        affinities = [sampler.affinity(v) if sampler else 0.0 for v in parts]

        def study(
            n: int,
            rng: np.random.Generator,
            trials: int,
            y: Array = y,
            x: Array | None = x,
            sampler: ClusterSampler | None = sampler,
            affinities: Sequence[float] = affinities,
        ) -> tuple[Array, int | None]:
            size = int(np.clip(file.outputs, n, max(MAX_ROWS, n)))
            at, clusters = _drawn(sampler, np.where(np.arange(size) < n, *affinities), len(y), size, trials, rng)
            units = None if clusters is None else len(np.unique(clusters[:n]))
            if units is not None and units < CLUSTERS:  # `estimate` gives no interval
                return np.full(trials, np.nan), units
            labels = np.where(np.arange(size) < n, y[at], np.nan)
            sample = PartlyLabeled(
                labels, None if x is None else x[at], clusters=clusters, share=file.share, bounds=file.bounds
            )
            return np.asarray(mean_estimate(sample, "labels" if x is None else "ppi++").width), units

        yield name, study


def _slope(y: Array, x: Array) -> float:
    """Return the weight of a judge's score in the estimate, at least 0."""
    off = x - x.mean()
    return max(float((off * y).sum() / (off**2).sum()), 0.0) if off.any() else 0.0


def _gates(
    panel: Panel, file: _File, gate: str, human_from: float | None, judge_from: float | None
) -> Iterator[tuple[str, Study]]:
    written, _, text = gate.partition("=")
    measure = SYNONYMS.get(written.strip(), written.strip())
    try:
        value = float(text)
    except ValueError:
        raise NlgaugeError(
            f"{option('gate')}: expected a measure and its value, such as kappa=.6; got '{gate}'."
        ) from None
    judged, refused = judge_verdicts(panel, human_pass(panel, human_from), None, judge_from)
    if refused and not judged:
        raise NeedsMissing(refusals=refused[:1])
    for mine, passed, _ in judged:
        counts = cell_counts(mine.passed, passed)
        figures = figures_of(counts)
        if measure not in figures:
            raise NameUnknown(f"{option('gate')}: measure must be one of {', '.join(figures)}; got '{measure}'.")
        sampler = file.sampler(panel, mine.index[1])
        affinity = 0.0
        if sampler:
            by_cell = np.array(
                [figures_of(counts + cell)[measure].value - figures[measure].value for cell in np.eye(4)]
            )
            affinity = sampler.affinity(np.nan_to_num(by_cell)[2 * mine.passed + passed])

        def study(
            n: int,
            rng: np.random.Generator,
            trials: int,
            verdicts: tuple[Mask, Mask] = (mine.passed, passed),
            sampler: ClusterSampler | None = sampler,
            affinity: float = affinity,
        ) -> tuple[Array, int | None]:
            drawn, clusters = _drawn(sampler, affinity, len(verdicts[0]), n, trials, rng)
            decided = []
            for at in drawn:
                counts = cell_counts(verdicts[0][at], verdicts[1][at], None if clusters is None else clusters.tolist())
                figure = figure_of(counts, measure, clustered=clusters is not None)
                decided.append(float(figure.low >= value or figure.high < value))  # as `nlgauge gate`
            return np.array(decided), None if clusters is None else int(clusters.max()) + 1

        yield mine.judge, study


def _comparisons(panel: Panel, file: _File, systems: Sequence[str] | None) -> Iterator[tuple[str, Study]]:
    """Simulate labels of the same inputs for both systems."""
    if panel.n_systems < 2:
        raise NeedsMissing("a comparison requires two systems; found one.", code="too_few_systems")
    mean = np.array([row[np.isfinite(row)].mean() if np.isfinite(row).any() else -np.inf for row in panel.human])
    for name in systems or ():
        if name not in panel.systems:
            raise NameUnknown(f"{panel.name}: system '{name}' not found; the data have {', '.join(panel.systems)}.")
    pair = [panel.systems.index(s) for s in systems] if systems else np.argsort(-mean, kind="stable")[:2].tolist()
    if len(pair) != 2:
        raise NlgaugeError(f"{option('compare')} requires two systems; got {len(pair)}.")
    first, second = panel.human[pair]
    both = np.isfinite(first) & np.isfinite(second)
    gaps = (first - second)[both]
    if len(gaps) < MIN_LABELS // 2:
        raise NeedsMissing(
            f"the comparison requires at least {MIN_LABELS // 2} inputs with labels of both systems; found "
            f"{len(gaps)} ("
            f"{call('label FILE', goal='ranking')} draws the same inputs for all systems).",
            code="too_few_labels",
        )

    sampler = file.sampler(panel, np.nonzero(both)[0], per_input=True)
    affinity = sampler.affinity(gaps) if sampler else 0.0

    def study(n: int, rng: np.random.Generator, trials: int) -> tuple[Array, int | None]:
        at, clusters = _drawn(sampler, affinity, len(gaps), max(n // 2, 2), trials, rng)
        found = mean_estimate(PartlyLabeled(gaps[at], clusters=clusters), "labels")
        decided = np.asarray((found.low > 0) if gaps.mean() >= 0 else (found.high < 0), dtype=float)
        return decided, None if clusters is None else int(clusters.max()) + 1

    yield ALONE, study


def _answer(rows: Sequence[Row], name: str, target: float, goal: Aim, file: _File) -> str:
    mine = [row for row in rows if row["metric"] == name]
    falls = goal == "estimate"
    at = next((k for k, r in enumerate(mine) if (r["value"] <= target if falls else r["value"] >= target)), None)
    who = "without a judge" if name == ALONE and goal == "estimate" else "" if name == ALONE else f"with {name}"
    if at is not None:
        # Log-linear between two sizes: widths fall with the square root of the number.
        near = [r for r in mine[max(at - 1, 0) : at + 1] if np.isfinite(r["value"])]
        pair = sorted((np.log(r["value"] or 1e-3), np.log(r["labels"])) for r in near)
        size = int(np.ceil(np.exp(np.interp(np.log(target), [v for v, _ in pair], [n for _, n in pair]))))
        outputs, units = file.outputs, ""
        if mine[at]["clusters"] is not None:
            sizes, counts = (np.log([r[k] for r in near]) for k in ("labels", "clusters"))
            units = f" in {round(np.exp(np.interp(np.log(size), sizes, counts))):,} {file.noun}"
        said = f"About {size:,} labels{units} {who}".rstrip()
        if size > outputs and falls:
            sizes, widths = (np.log([r[k] for r in mine if np.isfinite(r["value"])]) for k in ("labels", "value"))
            whole = float(np.exp(np.interp(np.log(outputs), sizes, widths)))
            return f"{said}, more than the {outputs:,} outputs of the data: with all of them labeled the width is "
            f"{number(whole)}."
        return f"{said}{f' (more than the {outputs:,} outputs of the data)' if size > outputs else ''}" + (
            " or fewer." if at == 0 else "."
        )
    last = mine[-1]
    reached = f"width {number(last['value'])}" if goal == "estimate" else f"{number(last['value'], 2)} decided"
    if not np.isfinite(last["value"]):
        reached = f"a confidence interval requires labels in at least {CLUSTERS} {file.noun}; found {last['clusters']}"
    return f"Not reached by {last['labels']:,} labels {who}".rstrip() + f": {reached}."


def _raters(panel: Panel, rows: Sequence[Row], target: float) -> list[str]:
    """Compare more outputs with more annotators, from the variance between outputs and between annotators."""
    cube = panel.raters.get(panel.aspect)
    alone = [row for row in rows if row["metric"] == ALONE and np.isfinite(row["value"])]
    if cube is None or not alone:
        return []
    votes = cube.reshape(len(cube), -1)
    count = np.isfinite(votes).sum(axis=0)
    if (count >= 2).sum() < MIN_LABELS:
        return []
    several = votes[:, count >= 2]
    within = float(np.nanmean(np.nanvar(several, axis=0, ddof=1)))
    each = float(np.mean(count[count >= 2]))
    between = max(float(np.nanvar(np.nanmean(several, axis=0), ddof=1)) - within / each, 0.0)
    z = alone[-1]["value"] * np.sqrt(alone[-1]["labels"]) / np.sqrt(between + within / each)
    outputs = {k: int(np.ceil((z / target) ** 2 * (between + within / k))) for k in (1, 2, 3)}
    told = "; ".join(f"{k} rating{'s' * (k > 1)} each of {n:,} outputs ({k * n:,} in all)" for k, n in outputs.items())
    return [
        f"Annotators per output for the same width without a judge: {told}. Of the variance of a rating "
        f"{100 * within / max(within + between, 1e-12):.0f}% is between annotators of the same output."
    ]
