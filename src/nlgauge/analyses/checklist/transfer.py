"""Transfer of the agreement with human ratings to other data sets (Nimah et al. 2023, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from nlgauge import __version__
from nlgauge.analyses import analysis
from nlgauge.analyses._common import Named, finite_mean, measures_of
from nlgauge.analyses.checklist.transfer_groups import GROUPS, transfer_groups
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import Dataset
from nlgauge.data.families import Families, families_of
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.number import count
from nlgauge.options import option
from nlgauge.registry import did_you_mean
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.table import Layout, Row, Table, grouped

Per = Literal["family", "metric", "data"]
GroupOption = Mapping[str, Any] | Sequence[Mapping[str, str]]
ANY = ""  # the group applies to metrics of every family


@analysis(
    "transfer",
    paper="nimah2023",
    takes="datasets",
    question="Does a metric's agreement with human ratings transfer to other data sets?",
)
def transfer(
    choice: Choice,
    *,
    groups: GroupOption | None = None,
    measure: Named = "global/spearman",
    per: Per = "family",
    families: Families | None = None,
) -> Table:
    """Compute how far a metric's agreement with human ratings transfers to other data sets.

    Parameters
    ----------
    groups : mapping or sequence of mappings, optional
        Groups of data sets: {'ID': ['news.csv'], 'domain-shift': ['chat.csv']}, {'news.csv': 'ID'}, {family: {data
        set: group}}, or rows with dataset, group and, if needed, family. Default: the groups of Table 3 of the paper
        for its data sets; any other data set is a group of its own.
    per : {'family', 'metric', 'data'}, default 'family'
        Unit of one row: a `family` of metrics, a `metric`, or a data set (`data`).

    Returns
    -------
    Table
        One row per family (or metric) and group of data sets: the mean over aspects, metrics and data sets,
        and how many of each. NaN if a group has no such metric.

    Notes
    -----
    The paper's groups are in-domain (ID), semantic shift and domain shift.

    References
    ----------
    Nimah et al. (2023), section 3.1 and Table 3.
    """
    chosen = measures_of(measure)[0]
    datasets, metrics = choice.datasets, choice.metrics
    columns = list(dict.fromkeys(name for data in datasets for name in data.metrics))
    family = families_of(columns, families)
    available = metrics if metrics is None else [name for name in metrics if name in columns]
    if metrics is not None and (unknown := [name for name in metrics if name not in columns]):
        raise NameUnknown(f"metric '{unknown[0]}' not found in any data set.{did_you_mean(unknown[0], columns)}")
    single, notes = [], []
    for data in datasets:
        rows, refused = data_rows(replace(choice, data=data, metrics=available), chosen, family)
        single += rows
        notes += refused
    if not single:
        raise NeedsMissing(
            "transfer: no data set has both metric scores and human ratings. " + " ".join(notes),
            code="no_scores_of_rated",
        )
    if len(datasets) < 2:
        notes.append("transfer requires several data sets; found one.")
    where, origin = _groups(datasets, groups)
    notes += _grouped(single, where)
    line, across = ("family" if per == "family" else "metric"), ("data" if per == "data" else "group")
    means = _means([row for row in single if row["group"] or per == "data"], line, across)
    order = _order_of(means, across, [*GROUPS, *where.values()] if across == "group" else [d.name for d in datasets])
    names: dict[str, dict[str, list[str]]] = {}
    for row in means:
        members = {r["data"] for r in single if r[line] == row[line] and r[across] == row[across]}
        names.setdefault(row[line], {})[row[across]] = sorted(members)
    means += _empty_cells(means, line, across, order)
    first = {row[line]: row["value"] for row in means if row[across] == order[0]}
    means.sort(key=lambda row: (-np.nan_to_num(first[row[line]], nan=-2.0), row[line], order.index(row[across])))
    return Table(
        title=f"Transfer: {chosen} with human ratings over {count(len(datasets), 'data set')}",
        rows=means,
        layout=Layout(
            line, across, "value", best=lambda row: row["value"], extra={"spread": _spread} if len(order) > 1 else {}
        ),
        facts={"datasets": names},
        definitions={
            str(chosen): chosen.definition,
            **({"spread": "largest difference between two groups"} if len(order) > 1 else {}),
        },
        method="Mean over aspects, then over the metrics of a family and the data sets of a group; the sign of metrics "
        f"for which lower is better is flipped. {origin}",
        notes=notes,
        signature=f"nlgauge:{__version__}|measure:{chosen}"
        f"|human:{'kept' if choice.keep_human else 'out'}|data:{','.join(d.name for d in datasets)}",
    )


def data_rows(choice: Choice, measure: Measure, family: dict[str, str]) -> tuple[list[Row], list[str]]:
    """Return a row per metric with its correlation on this data set (mean over aspects), and why aspects are "
    "excluded."""
    data, aspects, metrics = choice.data, choice.aspects, choice.metrics
    rated = [a for a in data.aspects if aspects is None or a in aspects]
    names = [m for m in data.metrics if metrics is None or m in metrics]
    if not rated or not names:
        return [], [f"{data.name}: there are no {'metric scores' if rated else 'human ratings'}."]
    with_scores = replace(choice, metrics=names)
    values: dict[str, list[float]] = {name: [] for name in names}
    refused: list[str] = []
    for aspect in rated:
        try:
            panel = with_scores.panel(aspect, canonical=True)
        except NlgaugeError as error:
            refused.append(str(error))
            continue
        estimates = evaluate(panel.oriented(), panel.human, [measure])
        for k, name in enumerate(panel.names):
            values[name].append(float(estimates.value[k, 0]))
    return [
        {
            "data": data.name,
            "metric": name,
            "family": family[name],
            "value": finite_mean(some),
            "aspects": sum(not np.isnan(v) for v in some),
        }
        for name, some in values.items()
    ], refused


def plain_name(name: str) -> str:
    """Return a file's name without folder and suffixes: `folder/News.csv.gz` and `news` name the same data set."""
    return name.replace("\\", "/").rpartition("/")[2].partition(".")[0].lower()


def _groups(datasets: Sequence[Dataset], groups: GroupOption | None) -> tuple[dict[tuple[str, str], str], str]:
    """Return the group of each family and data set, and where the groups come from."""
    if groups is not None:
        return _parse_groups(groups, datasets), "Groups chosen by the user."
    names = {plain_name(d.name) for d in datasets}
    table = {}
    for cell in transfer_groups():
        for name in (cell.set_name, cell.dataset):
            if plain_name(name) in names:
                table[cell.family, plain_name(name)] = cell.group
    if table:
        return table, "Groups: Table 3 of Nimah et al. (2023)."
    alone = {(ANY, plain_name(d.name)): d.name for d in datasets}
    return alone, f"Each data set is its own group ({option('groups')} defines others)."


def _parse_groups(groups: GroupOption, datasets: Sequence[Dataset]) -> dict[tuple[str, str], str]:
    names = {plain_name(d.name) for d in datasets}
    by_data: dict[tuple[str, str], str] = {}
    if not isinstance(groups, Mapping):
        try:
            by_data = {(row.get("family") or ANY, plain_name(row["dataset"])): row["group"] for row in groups}
        except (KeyError, AttributeError, TypeError):
            raise NlgaugeError(
                f"{option('groups')}: the rows of a list must have dataset, group and, if needed, family."
            ) from None
    else:
        for key, value in groups.items():
            if isinstance(value, Mapping):
                by_data |= {(key, plain_name(data)): group for data, group in value.items()}
            elif isinstance(value, str):
                by_data[ANY, plain_name(key)] = value
            else:
                by_data |= {(ANY, plain_name(data)): key for data in value}
    if not {data for _, data in by_data} & names:
        raise NameUnknown(f"{option('groups')} names none of the data sets {', '.join(sorted(names))}.")
    return by_data


def _grouped(rows: list[Row], where: Mapping[tuple[str, str], str]) -> list[str]:
    """Add the group to each row; return a note on rows without one."""
    for row in rows:
        data = plain_name(row["data"])
        row["group"] = where.get((row["family"], data)) or where.get((ANY, data))
    lost = sorted({(row["family"], row["data"]) for row in rows if row["group"] is None})
    if not lost:
        return []
    some = ", ".join(f"{f} on {d}" for f, d in lost[:4]) + (f" and {len(lost) - 4} more" if len(lost) > 4 else "")
    return [f"excluded because they are in no group: {some}."]


def _means(rows: list[Row], line: str, across: str) -> list[Row]:
    return [
        {
            line: name,
            **({} if line == "family" else {"family": part[0]["family"]}),
            across: group,
            "value": finite_mean([r["value"] for r in part]),
            "metrics": len({r["metric"] for r in part}),
            "datasets": len({r["data"] for r in part}),
        }
        for (name, group), part in grouped(rows, line, across).items()
    ]


def _empty_cells(rows: list[Row], line: str, across: str, order: Sequence[str]) -> list[Row]:
    """Return rows without a value for the combinations that do not exist."""
    return [
        {line: name, "family": part[0]["family"], across: column, "value": float("nan"), "metrics": 0, "datasets": 0}
        for name, part in grouped(rows, line).items()
        for column in order
        if column not in {row[across] for row in part}
    ]


def _order_of(rows: list[Row], across: str, names: Sequence[str]) -> list[str]:
    present = {row[across] for row in rows}
    return [name for name in dict.fromkeys(names) if name in present]


def _spread(rows: list[Row]) -> float:
    values = [row["value"] for row in rows if not np.isnan(row["value"])]
    return max(values) - min(values) if len(values) > 1 else np.nan
