"""Simulate scores of a metric and of people: a table to try things on, or the two studies of gao2025."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import load, progress
from nlgauge.errors import DataError, NlgaugeError

if TYPE_CHECKING:
    from nlgauge.stats.design.simulate import SimulationParams

PARAMETERS = "Parameters (of FILE, else the paper's)"
Number = float | None
Whole = int | None


def command(
    file: Annotated[
        str | None,
        typer.Argument(help="Fit the parameters to this table; without it the paper's.", metavar="[FILE]"),
    ] = None,
    study: Annotated[
        str,
        typer.Option(
            "--study", help="panel (one simulated table as CSV), relation or scale.", rich_help_panel=o.CHOICE
        ),
    ] = "panel",
    systems: Annotated[
        Whole, typer.Option("--systems", help="Number of systems, 15 by default.", rich_help_panel=PARAMETERS)
    ] = None,
    inputs: Annotated[
        Whole, typer.Option("--inputs", help="Number of inputs, 200 by default.", rich_help_panel=PARAMETERS)
    ] = None,
    rho_sys: Annotated[
        Number,
        typer.Option("--rho-sys", help="Correlation of the system means, .8.", rich_help_panel=PARAMETERS),
    ] = None,
    mu_rho: Annotated[
        Number,
        typer.Option("--mu-rho", help="Mean correlation within systems, .4.", rich_help_panel=PARAMETERS),
    ] = None,
    sigma_rho: Annotated[
        Number, typer.Option("--sigma-rho", help="Its SD over systems, .15.", rich_help_panel=PARAMETERS)
    ] = None,
    scale_metric: Annotated[
        Whole,
        typer.Option(
            "--scale-metric", help="Distinct values of the metric (panel).", rich_help_panel=PARAMETERS
        ),
    ] = None,
    scale_human: Annotated[
        Whole,
        typer.Option(
            "--scale-human", help="Distinct values of the ratings (panel).", rich_help_panel=PARAMETERS
        ),
    ] = None,
    trials: Annotated[
        Whole,
        typer.Option(
            "--trials",
            help="Simulated panels of a study; 100 (relation) or 30 (scale).",
            rich_help_panel=o.CHOICE,
        ),
    ] = None,
    redraws: Annotated[
        int,
        typer.Option("--redraws", help="Draws of the scale's thresholds (scale).", rich_help_panel=o.CHOICE),
    ] = 10,
    unequal: Annotated[
        bool,
        typer.Option(
            "--unequal", help="Metrics with longer scales than people (scale).", rich_help_panel=o.CHOICE
        ),
    ] = False,
    aspect: o.Aspects = None,
    metrics: o.Metrics = None,
    measure: o.Measures = None,
    keep_people: o.KeepPeople = False,
    system: o.System = None,
    input: o.Input = None,
    human: o.Human = None,
    metric: o.MetricColumns = None,
    rater: o.Rater = None,
    lower: o.Lower = None,
    higher: o.Higher = None,
    seed: o.Seed = 0,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:
    """Simulate scores of a metric and of people: a table to try things on, or the two studies of gao2025.

    [bold]Examples[/bold]

      nlgauge simulate -o simulated.csv --systems 12 --inputs 80 --scale-human 5

      nlgauge simulate scores.csv --metrics bleu --study relation

      nlgauge simulate --study scale --trials 100 --redraws 100      (as the paper; takes long)
    """  # fmt: skip
    from nlgauge.analyses.design import simulation
    from nlgauge.stats.design.simulation_studies import EQUAL_SCALES, UNEQUAL_SCALES

    if study not in ("panel", "relation", "scale"):
        raise NlgaugeError(f"--study {study}: use panel, relation or scale.")
    if (trials is not None and trials < 1) or redraws < 1:
        raise NlgaugeError("--trials and --redraws must be at least 1.")
    said = {"file": file, "system": system, "input": input, "output": None, "rater": rater, "encoding": None, "reader": None,
            "lower": lower, "higher": higher, "human": human, "metric": metric, "repeats": "auto"}  # fmt: skip
    params = _fitted(said, o.listed(aspect), o.listed(metrics), keep_people) if file else _defaults()
    given: dict[str, Any] = {"N": systems, "M": inputs, "rho_sys": rho_sys, "mu_rho": mu_rho, "sigma_rho": sigma_rho,
             "scale_m": scale_metric, "scale_h": scale_human}  # fmt: skip
    params = replace(params, **{k: v for k, v in given.items() if v is not None})
    if study == "panel":
        _panel(params, seed, out)
        return
    with progress(study) as more:
        if study == "relation":
            tables = simulation.relation(
                params, trials=trials or 100, measures=o.listed(measure), seed=seed, **more
            )
        else:
            scales = UNEQUAL_SCALES if unequal else EQUAL_SCALES
            tables = [
                simulation.scale(
                    params,
                    trials=trials or 30,
                    redraws=redraws,
                    scales=scales,
                    measures=o.listed(measure),
                    seed=seed,
                    **more,
                )
            ]
    o.show(tables, format, out)


def _defaults() -> SimulationParams:
    from nlgauge.stats.design.simulate import SimulationParams

    return SimulationParams()


def _fitted(
    said: dict[str, Any], aspects: list[str] | None, metrics: list[str] | None, keep_people: bool
) -> SimulationParams:
    """Parameters of one metric and one aspect of the file, in words on stderr."""
    import numpy as np

    from nlgauge.stats.design.simulate import fit_panel

    data = load(said)
    names = metrics or data.metrics
    if len(names) != 1:
        raise NlgaugeError(
            f"simulate fits one metric: name it with --metrics. Metrics with scores: {', '.join(data.metrics)}."
        )
    panel = data.panel(aspects[0] if aspects else None, metrics=names, keep_people=keep_people)
    try:
        found = fit_panel(panel.oriented()[0], panel.human)
    except DataError:
        raise NlgaugeError(
            f"{data.name}: {names[0]} and {panel.aspect} hardly vary, or there is one system: nothing to fit."
        ) from None
    o.tell([f"{data.name}: {names[0]} on {panel.aspect}: ρ_sys {found.rho_sys:.2f}, μ_ρ {found.mu_rho:.2f}, σ_ρ {found.sigma_rho:.2f}, "
            f"σ_m {found.metric.sigma:.3g}, σ_h {found.human.sigma:.3g}, {panel.n_systems} systems × {panel.n_inputs} inputs"])  # fmt: skip
    # One SD within systems for all of them: the number of systems may change.
    inside: dict[str, Any] = {
        f"within_{k}": float(np.nanmean(f.within)) for k, f in (("m", found.metric), ("h", found.human))
    }
    if np.isnan(found.sigma_rho):
        inside["sigma_rho"] = 0.0
    return replace(found.params, **inside)


def _panel(params: SimulationParams, seed: int, out: Any) -> None:
    import numpy as np

    from nlgauge.stats.design.simulate import simulate_panel
    from nlgauge.table import Table

    x, z = simulate_panel(params, np.random.default_rng(np.random.SeedSequence(seed)))
    width = len(str(params.M))
    rows = [
        {
            "system": f"system-{i + 1:02d}",
            "input": f"input-{j + 1:0{width}d}",
            "quality": float(z[i, j]),
            "simulated_metric": float(x[i, j]),
        }
        for i in range(params.N)
        for j in range(params.M)
    ]
    table = Table("simulated", rows)
    if out is None:
        print(table.to_csv(), end="")
        return
    if out.suffix.lower() != ".csv":
        raise NlgaugeError(f"-o {out}: a simulated panel is written as .csv.")
    o.tell(
        [
            f"written: {table.write(out)} (read it with: nlgauge run {out} --human quality --metric simulated_metric)"
        ]
    )
