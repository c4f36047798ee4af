"""Relation of the measures and effect of the scale: Figures 1 and 2 of Gao et al. (2025), sections 4.3 and 4.4.

nlgauge reproduce gao2025 relation
nlgauge reproduce gao2025 scale --options trials=100,redraws=100    (as the paper; takes long)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nlgauge import Table
from nlgauge.plugins import Layout, Row, number
from nlgauge.stats import (
    EQUAL_SCALES,
    GRID,
    TWELVE,
    UNEQUAL_SCALES,
    Measure,
    SimulationParams,
    relation_study,
    scale_study,
)
from nlgauge_papers import Sources, further
from nlgauge_papers.common import Named, Steps

AT_ONCE = 10  # trials between two steps of the progress bar; fixed, so that the numbers depend on nothing else
NAMES = {"rho_sys": "ρ_sys", "mu_rho": "μ_ρ"}


def relation(
    params: SimulationParams,
    *,
    trials: int = 100,
    grid: Sequence[float] = GRID,
    measures: Sequence[Named] | None = None,
    seed: int = 0,
    progress: Steps | None = None,
) -> list[Table]:
    """Simulate Figure 1: increase the metric's capability at system level (ρ_sys), then within systems (μ_ρ), all else
    fixed.
    """
    chosen = _measures(measures)
    tables = []
    for done, (varied, own) in enumerate(zip(NAMES, np.random.SeedSequence(seed).spawn(2), strict=True)):
        axes = {"rho_sys": (params.rho_sys,), "mu_rho": (params.mu_rho,)} | {varied: tuple(grid)}

        def run(part: np.random.SeedSequence, n: int, axes: dict[str, Any] = axes) -> Any:
            return relation_study(params, part, trials=n, measures=chosen, **axes)

        result = _in_parts(run, own, trials, _shifted(progress, done * trials, 2 * trials))
        fixed = "mu_rho" if varied == "rho_sys" else "rho_sys"
        rows: list[Row] = [
            {varied: index, "measure": str(m), "value": float(value), "se": float(se), "undefined": int(lost)}
            for index, line in zip(grid, zip(*(a.reshape(len(grid), -1) for a in result[:3]), strict=True), strict=True)
            for m, value, se, lost in zip(chosen, *line, strict=True)
        ]
        tables.append(
            Table(
                title=f"Raising {NAMES[varied]} with {NAMES[fixed]} at {getattr(params, fixed):g}",
                rows=rows,
                layout=Layout(varied, "measure", "value", heads=heads(chosen), line=lambda x: f"{x:g}"),
                heads=NAMES,
                method=f"{_setting(params)}, mean of {trials} trials, continuous scores, seed {seed}.",
                notes=[f"largest standard error {number(max(r['se'] for r in rows))}."],
                kind="relation",
            )
        )
    return tables


def scale(
    params: SimulationParams,
    *,
    trials: int = 30,
    redraws: int = 10,
    scales: Sequence[tuple[int, int]] = EQUAL_SCALES,
    measures: Sequence[Named] | None = None,
    seed: int = 0,
    progress: Steps | None = None,
) -> Table:
    """Simulate Figure 2: discretize metric and human scores to `scales` distinct values each, with new thresholds."""
    chosen = _measures(measures)

    def run(part: np.random.SeedSequence, n: int) -> Any:
        return scale_study(params, part, scales=scales, trials=n, redraws=redraws, measures=chosen)

    value, se, undefined = _in_parts(run, np.random.SeedSequence(seed), trials, progress)
    rows: list[Row] = [
        {
            "metric_values": c_m,
            "human_values": c_h,
            "measure": str(m),
            "value": float(value[i, j]),
            "se": float(se[i, j]),
            "undefined": int(undefined[i, j]),
        }
        for i, (c_m, c_h) in enumerate(scales)
        for j, m in enumerate(chosen)
    ]
    return Table(
        title="Scale size: metric and human scores discretized to that many values"
        + ("" if all(a == b for a, b in scales) else " (metric / human)"),
        rows=rows,
        layout=Layout(
            ("metric_values", "human_values"),
            "measure",
            "value",
            heads=heads(chosen),
            line=lambda x: " / ".join(dict.fromkeys(map(str, x))),
        ),
        method=f"{_setting(params)}, ρ_sys {params.rho_sys:g}, μ_ρ {params.mu_rho:g}, mean of {trials} trials × "
        f"{redraws} draws of thresholds, seed {seed}.",
        notes=[f"largest standard error {number(max(r['se'] for r in rows))}."],
        kind="scale",
    )


@further("gao2025", "relation", title="Figures 1 and 3: how the measures relate, simulated", sets=[])
def relation_tables(
    sources: Sources, trials: int = 100, systems: int = 15, inputs: int = 200, seed: int = 0
) -> list[Table]:
    """Raise the capability of a simulated metric; the paper has 1,000 trials, and 5 × 100 in Figure 3."""
    params = SimulationParams(N=systems, M=inputs)
    return relation(params, trials=trials, seed=seed, progress=_told(sources))


@further("gao2025", "scale", title="Figures 2, 4, 5 and 6: what the size of the scale does, simulated", sets=[])
def scale_tables(
    sources: Sources,
    trials: int = 30,
    redraws: int = 10,
    systems: int = 15,
    inputs: int = 200,
    unequal: bool = False,
    seed: int = 0,
) -> list[Table]:
    """Cut simulated scores to scales of equal (or unequal) sizes; the paper has 100 trials of 100 redraws."""
    scales = UNEQUAL_SCALES if unequal else EQUAL_SCALES
    params = SimulationParams(N=systems, M=inputs)
    return [scale(params, trials=trials, redraws=redraws, scales=scales, seed=seed, progress=_told(sources))]


def _told(sources: Sources) -> Steps:
    return lambda done, total: sources.tell(f"{done} of {total} trials")


def _measures(names: Sequence[Named] | None) -> list[Measure]:
    return [n if isinstance(n, Measure) else Measure.parse(n) for n in (TWELVE if names is None else names)]


def heads(measures: Sequence[Measure]) -> dict[str, str]:
    """Return short headings of measures, such as `input τ`."""
    letters = {"pearson": "r", "spearman": "ρ", "kendall": "τ"}
    return {str(m): f"{m.grouping} {letters.get(m.coefficient, m.coefficient)}" for m in measures}


def _in_parts(
    run: Callable[[np.random.SeedSequence, int], Any], seed: np.random.SeedSequence, trials: int, progress: Steps | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run trials in blocks, so that a progress bar can move, and return their mean, standard error, and undefined
    values.
    """
    sizes = [AT_ONCE] * (trials // AT_ONCE) + ([trials % AT_ONCE] if trials % AT_ONCE else [])
    value: Any = 0.0
    variance: Any = 0.0
    undefined: Any = 0
    done = 0
    for size, own in zip(sizes, seed.spawn(len(sizes)), strict=True):
        part = run(own, size)
        value = value + part.value * size / trials
        # A block of one trial has no standard error.
        variance = variance + np.nan_to_num(part.se) ** 2 * (size / trials) ** 2
        undefined = undefined + part.undefined
        done += size
        if progress is not None:
            progress(done, trials)
    return np.asarray(value), np.sqrt(variance), np.asarray(undefined)


def _shifted(progress: Steps | None, before: int, total: int) -> Steps | None:
    return None if progress is None else lambda done, _: progress(before + done, total)


def _setting(params: SimulationParams) -> str:
    return (
        f"Algorithm 1 with {params.N} systems × {params.M} inputs, σ_m {params.sigma_m:g}, σ_h {params.sigma_h:g}, "
        f"σ_ρ {params.sigma_rho:g}"
    )
