"""Simulate scores of a metric and of people: a table to try things on, or the two studies of gao2025.

[bold]Examples[/bold]

  nlgauge simulate -o simulated.csv --systems 12 --inputs 80 --scale-human 5

  nlgauge simulate scores.csv --metrics bleu --study relation

  nlgauge simulate --study scale --trials 100 --redraws 100      (as the paper; takes long)
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import Columns, with_columns
from nlgauge.errors import NlgaugeError

parameter = o.panel("Parameters (of FILE, else the paper's)")
Number = float | None
Whole = int | None


@with_columns
def command(
    columns: Columns,
    file: Annotated[str | None, typer.Argument(help="Fit the parameters to this table; without it the "
                                                    "paper's.", metavar="[FILE]")] = None,
    study: Annotated[str, o.choice("--study", "panel (one simulated table as CSV), relation or scale.")] = "panel",
    systems: Annotated[Whole, parameter("--systems", "Number of systems, 15 by default.")] = None,
    inputs: Annotated[Whole, parameter("--inputs", "Number of inputs, 200 by default.")] = None,
    rho_sys: Annotated[Number, parameter("--rho-sys", "Correlation of the system means, .8.")] = None,
    mu_rho: Annotated[Number, parameter("--mu-rho", "Mean correlation within systems, .4.")] = None,
    sigma_rho: Annotated[Number, parameter("--sigma-rho", "Its SD over systems, .15.")] = None,
    scale_metric: Annotated[Whole, parameter("--scale-metric", "Distinct values of the metric (panel).")] = None,
    scale_human: Annotated[Whole, parameter("--scale-human", "Distinct values of the ratings (panel).")] = None,
    trials: Annotated[Whole, o.choice("--trials", "Simulated panels of a study; 100 (relation) or 30 (scale).")] = None,
    redraws: Annotated[int, o.choice("--redraws", "Draws of the scale's thresholds (scale).")] = 10,
    unequal: Annotated[bool, o.choice("--unequal", "Metrics with longer scales than people (scale).")] = False,
    aspect: o.Aspects = None,
    metrics: o.Metrics = None,
    measure: o.Measures = None,
    keep_people: o.KeepPeople = False,
    seed: o.Seed = 0,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:  # fmt: skip
    from nlgauge.analyses.design import simulated_data, simulation
    from nlgauge.stats.design.simulate import SimulationParams
    from nlgauge.stats.design.simulation_studies import EQUAL_SCALES, UNEQUAL_SCALES

    if study not in ("panel", "relation", "scale"):
        raise NlgaugeError(f"--study {study}: use panel, relation or scale.")
    if (trials is not None and trials < 1) or redraws < 1:
        raise NlgaugeError("--trials and --redraws must be at least 1.")
    params = SimulationParams()
    if columns.file is not None:
        panel = columns.load().panel(
            next(iter(o.listed(aspect) or ()), None), metrics=o.listed(metrics), keep_people=keep_people
        )
        params, words = simulated_data.simulation_params(panel)
        o.tell([words])
    given: dict[str, Any] = {"N": systems, "M": inputs, "rho_sys": rho_sys, "mu_rho": mu_rho, "sigma_rho": sigma_rho,
             "scale_m": scale_metric, "scale_h": scale_human}  # fmt: skip
    params = replace(params, **{k: v for k, v in given.items() if v is not None})
    if study == "panel":
        table = simulated_data.simulated(params, seed=seed)
        if out is None:
            print(o.together([table], "csv" if format == "table" else format), end="")
            return
        if out.suffix.lower() != ".csv":
            raise NlgaugeError(f"-o {out}: a simulated panel is written as .csv.")
        written = table.write(out)
        o.tell([f"written: {written} (read it with: nlgauge run {out} --human quality --metric simulated_metric)"])
        return
    more: dict[str, Any] = {"measures": o.listed(measure), "seed": seed, "progress": partial(o.bar, study)}
    if study == "relation":
        tables = simulation.relation(params, trials=trials or 100, **more)
    else:
        scales = UNEQUAL_SCALES if unequal else EQUAL_SCALES
        tables = [simulation.scale(params, trials=trials or 30, redraws=redraws, scales=scales, **more)]
    o.show(tables, format, out)
