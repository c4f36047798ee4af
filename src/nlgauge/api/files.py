"""Data files: roles of the columns, conversion, tuning and test sets, simulated tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from nlgauge.api.questions import ChoiceOptions, FileOptions, dataset, select
from nlgauge.data.card import reading
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.export import TEST, check_suffix, differences, export, part_paths, split_data
from nlgauge.data.panel import Panel
from nlgauge.datasets.load import check as check_file
from nlgauge.docstrings import with_shared_parameters
from nlgauge.errors import DataError, NlgaugeError
from nlgauge.looks import is_test_part, log_of
from nlgauge.options import option
from nlgauge.stats.design.simulate import SimulationParams, fit_panel, simulate_panel
from nlgauge.table import CommandOutput, Table, command_output
from nlgauge.types import Names


@with_shared_parameters
def check(data: Any, **file: Unpack[FileOptions]) -> Table:
    """Show each column's inferred role, the reason, and the option that overrides it.

    Parameters
    ----------
    data : path, data frame or rows
        A table (CSV, TSV, JSON, JSONL, Parquet, Excel; also .gz), an export of another tool (see `nlgauge data
        formats`), or a published data set.

    Returns
    -------
    Table
        One row per column.

    Examples
    --------
    >>> [row["column"] for row in check([{"system": "A", "doc": 1, "coherence": 4, "bleu": 0.3}])]
    ['system', 'doc', 'coherence', 'bleu']

    $ nlgauge data check ratings.csv

    $ nlgauge data check ratings.csv --columns system=llm,human=+stars   (what it would be with these words)
    """
    return check_file(data, **file)


@with_shared_parameters
def convert(
    data: Any, *, out: str | Path, tell: Callable[[str], object] | None = None, **file: Unpack[FileOptions]
) -> CommandOutput:
    """Convert a file to the tidy format, or to a wide CSV or Parquet table.

    A wide table has one row per output and annotator, with columns human.ASPECT and metric.NAME.

    Parameters
    ----------
    data : path, data frame, rows or Dataset
        A table (CSV, TSV, JSON, JSONL, Parquet, Excel; also .gz), an export of another tool (see `nlgauge data
        formats`), a published data set, or 'example'. Options of a reader follow in parentheses: wmt23(lp='en-de').
    out : path
        File to write: .jsonl, .jsonl.gz (these lose nothing), .csv or .parquet.

    Examples
    --------
    $ nlgauge data convert export.json -o ratings.jsonl.gz   (loses nothing)

    $ nlgauge data convert "wmt23(lp='en-de')" -o wmt23.parquet
    """
    check_suffix(out)
    read = dataset(data, **file)
    (tell or (lambda line: None))(" ".join(reading(read)))
    row = {
        "file": out,
        "systems": len(read.systems),
        "inputs": len(read.inputs),
        "outputs": len(read),
        "aspects": len(read.aspects),
        "metrics": len(read.metrics),
    }
    return command_output("convert", [row], [], [*export(read, out), *differences(read, out)])


@with_shared_parameters
def split(
    data: Any,
    *,
    test: float = TEST,
    by: str | None = None,
    out: str | Path | None = None,
    tell: Callable[[str], object] | None = None,
    **file: Unpack[FileOptions],
) -> CommandOutput:
    """Split a file into a part for tuning a judge and a held-out test part.

    The part to which an input belongs depends only on its ID, so adding rows never moves existing inputs. Each later
    use of the test part is recorded in a log file next to it.

    Parameters
    ----------
    data : path, data frame, rows or Dataset
        A table (CSV, TSV, JSON, JSONL, Parquet, Excel; also .gz), an export of another tool (see `nlgauge data
        formats`), or a published data set.
    test : float, default 0.45
        Approximate share of the inputs in the test part.
    by : str, optional
        Column that identifies groups of inputs, such as conversations, that must stay in the same part. Default: the
        document or conversation column, if there is one.
    out : path, optional
        Output name: NAME.csv writes NAME.tune.csv and NAME.test.csv. Default: lossless .jsonl files next to the input
        file.

    Examples
    --------
    $ nlgauge data split answers.csv

    $ nlgauge data split answers.csv --test .3 --by conversation -o parts/answers.jsonl
    """
    read = dataset(data, **file)
    (tell or (lambda line: None))(" ".join(reading(read)))
    path = Path(out) if out is not None else Path(str(data) if isinstance(data, str | Path) else read.name)
    path = path if out is not None else path.with_suffix(".jsonl")
    parts, paths = split_data(read, test, by=by, out=path), part_paths(path)
    rows = [
        {"file": file_, "outputs": len(part), "labels": part.ratings.select(KEY).unique().height}
        for file_, part in zip(paths, parts, strict=True)
    ]
    lines = ["{file}: {outputs:,} outputs, {labels:,} of them labeled".format_map(r) for r in rows]
    return command_output(
        "split", rows, lines, [f"every use of {paths[1].name} is recorded in {log_of(paths[1]).name}"]
    )


@with_shared_parameters
def simulate(
    data: Any = None,
    aspect: Names = None,
    metrics: Names = None,
    *,
    systems: int | None = None,
    inputs: int | None = None,
    rho_sys: float | None = None,
    mu_rho: float | None = None,
    sigma_rho: float | None = None,
    scale_metric: int | None = None,
    scale_human: int | None = None,
    tell: Callable[[str], object] | None = None,
    **choice: Unpack[ChoiceOptions],
) -> Table:
    """Simulate a table of metric scores and human ratings.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Session, optional
        Table to which the parameters are fitted. Default: the parameters of Gao et al. (2025).
    aspect, metrics : str or sequence of str, optional
        Aspect and metric to which the parameters are fitted.
    systems : int, optional
        Number of systems. Default: 15.
    inputs : int, optional
        Number of inputs. Default: 200.
    rho_sys : float, optional
        Correlation of the system means. Default: 0.8.
    mu_rho : float, optional
        Mean correlation within systems. Default: 0.4.
    sigma_rho : float, optional
        Standard deviation of the correlation within systems, over systems. Default: 0.15.
    scale_metric : int, optional
        Number of distinct values of the metric.
    scale_human : int, optional
        Number of distinct values of the ratings.

    Returns
    -------
    Table
        system, input, quality (of humans), simulated_metric.

    Examples
    --------
    >>> table = simulate(systems=3, inputs=4, seed=1)
    >>> len(table), table.columns
    (12, ['system', 'input', 'quality', 'simulated_metric'])

    $ nlgauge data simulate -o simulated.csv --systems 12 --inputs 80 --scale-human 5

    $ nlgauge data simulate scores.csv --metrics bleu -o like_mine.csv
    """
    params = SimulationParams()
    if data is not None:
        session = select(data, aspect, metrics, **choice)
        params, words = simulation_params(session.panel(session.aspects[0] if session.aspects else None))
        (tell or (lambda line: None))(words)
    given: dict[str, Any] = {
        "N": systems,
        "M": inputs,
        "rho_sys": rho_sys,
        "mu_rho": mu_rho,
        "sigma_rho": sigma_rho,
        "scale_m": scale_metric,
        "scale_h": scale_human,
    }
    params = replace(params, **{k: v for k, v in given.items() if v is not None})
    return simulated(params, seed=choice.get("seed", 0))


def tuning_part(data: Dataset, path: str, test: float = TEST) -> tuple[Dataset, str]:
    """Return the data for prompt tuning, which exclude the test part, and a description."""
    if is_test_part(path):
        raise NlgaugeError(f"{path} is a test part ({log_of(path).name}): tune prompts on the tuning part.")
    name = Path(path).name
    if ".tune." in name and is_test_part(Path(path).with_name(name.replace(".tune.", ".test."))):
        return data, f"prompts are tuned on all {len(data):,} outputs of this tuning part"
    tune, held = split_data(data, test)
    return tune, (
        f"prompts are tuned on {len(tune):,} outputs; {len(held):,} are held out for the test and not shown to the "
        "model "
        f"(`nlgauge data split {path}` writes both parts)"
    )


def simulation_params(panel: Panel) -> tuple[SimulationParams, str]:
    """Fit parameters to one metric and one aspect, and describe them.

    >>> import nlgauge as ng
    >>> params, words = simulation_params(ng.example().panel(metrics=["unigram_f1"]))
    >>> round(params.rho_sys, 2), params.N, params.M
    (0.94, 8, 24)
    """
    if len(panel.names) != 1:
        raise NlgaugeError(
            f"the simulation requires one metric: select it with {option('metrics', choice=True)}. Metrics: "
            f"{', '.join(panel.names)}."
        )
    name = panel.names[0]
    try:
        found = fit_panel(panel.oriented()[0], panel.human)
    except DataError:
        raise NlgaugeError(
            f"{panel.name}: the variance of {name} or {panel.aspect} is too small, or there is one system."
        ) from None
    words = (
        f"{panel.name}: {name} on {panel.aspect}: ρ_sys {found.rho_sys:.2f}, μ_ρ {found.mu_rho:.2f}, σ_ρ "
        f"{found.sigma_rho:.2f}, σ_m {found.sigma_m:.3g}, σ_h {found.sigma_h:.3g}, {panel.n_systems} systems "
        f"× {panel.n_inputs} inputs"
    )
    # The SD within systems is the same for all systems, since the number of systems may change.
    within_m, within_h = (float(np.nanmean(np.asarray(within))) for within in (found.within_m, found.within_h))
    sigma_rho = 0.0 if np.isnan(found.sigma_rho) else found.sigma_rho
    return replace(found, within_m=within_m, within_h=within_h, sigma_rho=sigma_rho), words


def simulated(params: SimulationParams | None = None, *, seed: int = 0) -> Table:
    """Return a simulated panel as a table: system, input, quality (human), simulated_metric.

    Parameters
    ----------
    params : SimulationParams, optional
        Those of gao2025 by default; `simulation_params` fits them to data.
    seed : int, default 0

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = simulated(SimulationParams(N=3, M=4), seed=1)
    >>> len(table), table.columns
    (12, ['system', 'input', 'quality', 'simulated_metric'])
    """
    params = params or SimulationParams()
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
    return Table("simulated", rows, kind="simulate")
