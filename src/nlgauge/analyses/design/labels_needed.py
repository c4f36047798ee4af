"""How many labels do I need for an estimate, a gate, or to tell two systems apart? Simulated from labels at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import counted, people_note, signature
from nlgauge.analyses.verdicts._labelled import judge_pass, labelled, people_pass
from nlgauge.analyses.verdicts.verdicts import ALSO
from nlgauge.data.panel import Panel
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.number import number
from nlgauge.stats.agreement.two_by_two import cell_counts, figures_of
from nlgauge.stats.estimation.means import PartlyLabelled, mean_estimate
from nlgauge.table import Row, Table
from nlgauge.types import Array, Mask

Aim = Literal["estimate", "gate", "compare"]
SIZES = (20, 30, 50, 80, 120, 200, 300, 500, 800, 1200, 2000)
LEAST = 20  # labels to learn from
MOST_ROWS = 2000  # outputs of a simulated file
ALONE = "people"  # labels without a judge, in the column `metric`
WHAT = {
    "estimate": "mean width of the interval around the mean of all outputs",
    "gate": "share of studies whose interval lies wholly above or wholly below the gate",
    "compare": "share of studies that find the better system better, two-sided at .05",
}


@analysis("labels-needed", question="How many labels do I need?")
def labels_needed(
    panel: Panel,
    *,
    goal: Aim = "estimate",
    width: float | None = None,
    gate: str = "kappa=.6",
    people_pass_from: float | None = None,
    judge_pass_from: float | None = None,
    systems: Sequence[str] | None = None,
    power: float = 0.8,
    sizes: Sequence[int] | None = None,
    trials: int = 100,
    seed: int = 0,
    progress: Progress | None = None,
) -> Table:
    """The curve of an interval's width, or of the chance of a decision, against the number of labels.

    Studies are simulated by drawing labelled rows with replacement, each with its judge's score. `width` is on the
    scale of the ratings (a tenth of their range by default), `gate` names a figure of `verdicts` and the value that
    it must pass, `systems` two systems (by default the two that people rate highest).
    """
    if not 0 < power < 1 or trials < 2:
        raise NlgaugeError(f"power lies between 0 and 1 and trials are 2 or more; found {power:g}, {trials}.")
    n_known = int(np.isfinite(panel.human).sum())
    if n_known < LEAST:
        raise NeedsMissing(
            f"{panel.name}, {panel.aspect}: {n_known} labels are too few to plan from; label {LEAST} first: "
            f"`nlgauge next FILE --budget {LEAST}`."
        )
    target = power
    if goal == "estimate":
        spread = np.ptp(panel.human[np.isfinite(panel.human)])
        target = width if width is not None else float(spread) / 10
        if target <= 0:
            raise NlgaugeError(f"width must be above 0; found {target:g}.")
    steps = sorted({int(s) for s in sizes}) if sizes else list(SIZES)
    if steps[0] < 4:
        raise NlgaugeError(f"sizes start at 4 labels; found {steps[0]}.")
    rows: list[Row] = []
    if goal == "gate":
        studies = list(_gates(panel, gate, people_pass_from, judge_pass_from))
    else:
        studies = list(_widths(panel) if goal == "estimate" else _comparisons(panel, systems))
    for name, study in counted(studies, progress):
        found = _curve(study, steps, trials, seed, target, goal == "estimate", sizes is not None)
        rows += [
            {"metric": name, "aspect": panel.aspect, "measure": gate.partition("=")[0] if goal == "gate" else goal,
             "labels": size, "value": value, "se": se, "target": target, "n": n_known}
            for size, value, se in found
        ]  # fmt: skip
    answers = [_answer(rows, name, target, goal, _outputs(panel)) for name, _ in studies]
    what = {"estimate": f"an interval of width {number(target)}", "gate": f"a decision on {gate}"}
    return Table(
        title=f"{panel.name}: labels needed for {what.get(goal, 'the order of two systems')}, {panel.aspect}",
        rows=rows,
        shown=["metric", "labels", "value", "se"],
        heads={"metric": "judge", "value": "width" if goal == "estimate" else "decided"},
        definitions={"value": WHAT[goal]},
        method=f"{trials} simulated studies a size from {n_known} labelled outputs, drawn with replacement; labels "
        f"drawn at random, 95 % intervals, seed {seed}.",
        answers=[*answers, *(_raters(panel, rows, target) if goal == "estimate" else [])],
        notes=[*(_sureness(n_known) if goal == "estimate" else []), *people_note(panel)],
        signature=signature(panel, goal=goal, trials=trials, seed=seed),
    )  # fmt: skip


def _sureness(labels: int) -> list[str]:
    return [
        f"the spread of {labels:,} labels is known to about ± {196 / np.sqrt(2 * labels):.0f} % (were they normal), "
        "the number of labels for a width to twice that."
    ]


def _outputs(panel: Panel) -> int:
    """Outputs of the file, with and without labels."""
    return panel.human.size if panel.data is None else len(panel.data)


Study = Callable[[int, np.random.Generator, int], Array]  # labels, generator, trials -> one value a trial


def _curve(
    study: Study, steps: Sequence[int], trials: int, seed: int, target: float, falls: bool, all_of_them: bool
) -> list[tuple[int, float, float]]:
    """Sizes up to the first that reaches the target, the same draws for every judge."""
    found: list[tuple[int, float, float]] = []
    for size, own in zip(steps, np.random.SeedSequence(seed).spawn(len(steps)), strict=True):
        values = study(size, np.random.default_rng(own), trials)
        known = values[np.isfinite(values)]
        value = float(known.mean()) if len(known) else float("nan")
        found.append((size, value, float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else float("nan")))
        if not all_of_them and (value <= target if falls else value >= target):
            break
    return found


def _widths(panel: Panel) -> Iterator[tuple[str, Study]]:
    known = np.isfinite(panel.human)
    outputs = _outputs(panel)
    for name in (ALONE, *panel.names):
        score = None if name == ALONE else dict(zip(panel.names, panel.oriented(), strict=True))[name]
        both = known if score is None else known & np.isfinite(score)
        if both.sum() < LEAST:
            continue
        y, x = panel.human[both], None if score is None else score[both]

        def study(n: int, rng: np.random.Generator, trials: int, y: Array = y, x: Array | None = x) -> Array:
            size = int(np.clip(outputs, n, max(MOST_ROWS, n)))
            at = rng.integers(len(y), size=(trials, size))
            labels = np.where(np.arange(size) < n, y[at], np.nan)
            sample = PartlyLabelled(labels, None if x is None else x[at])
            return np.asarray(mean_estimate(sample, "labels" if x is None else "ppi++").width)

        yield name, study


def _gates(panel: Panel, gate: str, people_from: float | None, judge_from: float | None) -> Iterator[tuple[str, Study]]:
    written, _, text = gate.partition("=")
    measure = ALSO.get(written.strip(), written.strip())
    try:
        value = float(text)
    except ValueError:
        raise NlgaugeError(f"gate '{gate}': write a figure and its value, such as kappa=.6.") from None
    people, refused = people_pass(panel, people_from), []
    for name in panel.names:
        try:
            mine = labelled(panel, name, people)
            passed = judge_pass(mine, people, judge_from)[0]
        except NeedsMissing as error:
            refused.append(str(error))
            continue
        known = figures_of(cell_counts(mine.passed, passed))
        if measure not in known:
            raise NameUnknown(f"gate '{gate}': no figure '{measure}'; use {', '.join(known)}.")

        def study(
            n: int, rng: np.random.Generator, trials: int, said: tuple[Mask, Mask] = (mine.passed, passed)
        ) -> Array:
            decided = []
            for at in rng.integers(len(said[0]), size=(trials, n)):
                found = figures_of(cell_counts(said[0][at], said[1][at]))[measure]
                decided.append(float(found.low >= value or found.high < value))  # as `nlgauge gate`
            return np.array(decided)

        yield name, study
    if refused and len(refused) == len(panel.names):
        raise NeedsMissing(refused[0])


def _comparisons(panel: Panel, systems: Sequence[str] | None) -> Iterator[tuple[str, Study]]:
    """Labels are of the same inputs for both systems, half of them each."""
    if panel.n_systems < 2:
        raise NeedsMissing(f"{panel.name}: there is one system, so nothing to compare.")
    mean = np.array([row[np.isfinite(row)].mean() if np.isfinite(row).any() else -np.inf for row in panel.human])
    for name in systems or ():
        if name not in panel.systems:
            raise NameUnknown(f"{panel.name}: no system '{name}'; there are {', '.join(panel.systems)}.")
    pair = [panel.systems.index(s) for s in systems] if systems else np.argsort(-mean, kind="stable")[:2].tolist()
    if len(pair) != 2:
        raise NlgaugeError(f"compare takes two systems; found {len(pair)}.")
    first, second = panel.human[pair]
    both = np.isfinite(first) & np.isfinite(second)
    gaps = (first - second)[both]
    if len(gaps) < LEAST // 2:
        raise NeedsMissing(
            f"{panel.name}: {len(gaps)} inputs have labels of both systems; {LEAST // 2} are needed (`nlgauge next "
            "--for ranking` draws the same inputs for all systems)."
        )

    def study(n: int, rng: np.random.Generator, trials: int) -> Array:
        drawn = gaps[rng.integers(len(gaps), size=(trials, max(n // 2, 2)))]
        found = mean_estimate(PartlyLabelled(drawn), "labels")
        return np.asarray((found.low > 0) if gaps.mean() >= 0 else (found.high < 0), dtype=float)

    yield ALONE, study


def _answer(rows: Sequence[Row], name: str, target: float, goal: Aim, outputs: int) -> str:
    mine = [row for row in rows if row["metric"] == name]
    falls = goal == "estimate"
    at = next((k for k, r in enumerate(mine) if (r["value"] <= target if falls else r["value"] >= target)), None)
    who = "without a judge" if name == ALONE and goal == "estimate" else "" if name == ALONE else f"with {name}"
    if at is not None:
        # Between two sizes log-linear: widths fall with the root of the number.
        pair = sorted((np.log(r["value"] or 1e-3), np.log(r["labels"])) for r in mine[max(at - 1, 0) : at + 1])
        size = int(np.ceil(np.exp(np.interp(np.log(target), [v for v, _ in pair], [n for _, n in pair]))))
        said = f"About {size:,} labels {who}".rstrip()
        if size > outputs and falls:
            sizes, widths = (np.log([r[k] for r in mine]) for k in ("labels", "value"))
            whole = float(np.exp(np.interp(np.log(outputs), sizes, widths)))
            return f"{said}, more than the {outputs:,} outputs there are: all of them labelled give {number(whole)}."
        return f"{said}{f' (more than the {outputs:,} outputs there are)' if size > outputs else ''}" + (
            " or fewer." if at == 0 else "."
        )
    last = mine[-1]
    reached = f"width {number(last['value'])}" if goal == "estimate" else f"{number(last['value'], 2)} decided"
    return f"Not reached by {last['labels']:,} labels {who}".rstrip() + f": {reached}."


def _raters(panel: Panel, rows: Sequence[Row], target: float) -> list[str]:
    """More outputs or more raters? From the variance between outputs and that between raters of one output."""
    cube = panel.raters.get(panel.aspect)
    alone = [row for row in rows if row["metric"] == ALONE]
    if cube is None or not alone:
        return []
    votes = cube.reshape(len(cube), -1)
    count = np.isfinite(votes).sum(axis=0)
    if (count >= 2).sum() < LEAST:
        return []
    several = votes[:, count >= 2]
    within = float(np.nanmean(np.nanvar(several, axis=0, ddof=1)))
    each = float(np.mean(count[count >= 2]))
    between = max(float(np.nanvar(np.nanmean(several, axis=0), ddof=1)) - within / each, 0.0)
    z = alone[-1]["value"] * np.sqrt(alone[-1]["labels"]) / np.sqrt(between + within / each)
    outputs = {k: int(np.ceil((z / target) ** 2 * (between + within / k))) for k in (1, 2, 3)}
    told = "; ".join(f"{k} rating{'s' * (k > 1)} each of {n:,} outputs ({k * n:,} in all)" for k, n in outputs.items())
    return [
        f"Raters for the same width without a judge: {told}. Of the variance of one rating "
        f"{100 * within / max(within + between, 1e-12):.0f} % lies between raters of one output."
    ]
