"""Does agreement with people carry over to other data? Correlation per group of data sets (nimah2023, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from nlgauge import __version__
from nlgauge.analyses import analysis
from nlgauge.analyses._common import Named, known_mean, measures_of
from nlgauge.analyses.checklist.transfer_groups import GROUPS, transfer_groups
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import Dataset
from nlgauge.data.families import Families, families_of
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.options import option
from nlgauge.registry import did_you_mean
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.table import Layout, Row, Table, grouped

Per = Literal["family", "metric", "data"]
Said = Mapping[str, Any] | Sequence[Mapping[str, str]]
ANY = ""  # the group holds for metrics of every family


@analysis(
    "transfer",
    paper="nimah2023",
    takes="datasets",
    question="Does a metric's agreement with people carry over to other data?",
)
def transfer(
    choice: Choice,
    *,
    groups: Said | None = None,
    measure: Named = "global/spearman",
    per: Per = "family",
    families: Families | None = None,
) -> Table:
    """Compute how far a metric's agreement with human ratings carries over to other data sets.

    Parameters
    ----------
    choice : Choice
        Data, and the aspects, metrics and parts of it to use.
    groups : mapping or sequence of mappings, optional
        Groups of data sets: {'ID': ['news.csv'], 'domain-shift': ['chat.csv']}, {'news.csv': 'ID'}, {family:
        {data set: group}}, or rows with dataset, group and, if needed, family. By default Table 3 of the paper
        for its data sets, else each data set is its own group.
    measure : str or Measure, default 'global/spearman'
        Measure of agreement, such as `input/kendall` or `system/pearson`.
    per : {'family', 'metric', 'data'}, default 'family'
        What one row is about: a `family` of metrics, a `metric`, or every data set (`data`).
    families : mapping, optional
        Families of metrics, as family -> metrics or metric -> family; without it they are inferred from the
        names (`rouge-1` and `rouge-l` belong to `rouge`). Metrics that are not named are left out.

    Returns
    -------
    Table
        One row per family (or metric) and group of data sets: the mean over aspects, metrics and data sets,
        and how many of each. NaN where a group has no such metric.

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
    known = metrics if metrics is None else [name for name in metrics if name in columns]
    if metrics is not None and (unknown := [name for name in metrics if name not in columns]):
        raise NameUnknown(f"no scores of metric '{unknown[0]}' in any data set.{did_you_mean(unknown[0], columns)}")
    single, notes = [], []
    for data in datasets:
        rows, refused = data_rows(replace(choice, data=data, metrics=known), chosen, family)
        single += rows
        notes += refused
    if not single:
        raise NeedsMissing(
            "transfer: no data set has both metric scores and ratings. " + " ".join(notes), code="no_scores_of_rated"
        )
    if len(datasets) < 2:
        notes.append("one data set only: name more files to see what carries over.")
    where, said = _groups(datasets, groups)
    notes += _grouped(single, where)
    line, across = ("family" if per == "family" else "metric"), ("data" if per == "data" else "group")
    found = _means([row for row in single if row["group"] or per == "data"], line, across)
    order = _order_of(found, across, [*GROUPS, *where.values()] if across == "group" else [d.name for d in datasets])
    names: dict[str, dict[str, list[str]]] = {}
    for row in found:
        mine = {r["data"] for r in single if r[line] == row[line] and r[across] == row[across]}
        names.setdefault(row[line], {})[row[across]] = sorted(mine)
    found += _holes(found, line, across, order)
    first = {row[line]: row["value"] for row in found if row[across] == order[0]}
    found.sort(key=lambda row: (-np.nan_to_num(first[row[line]], nan=-2.0), row[line], order.index(row[across])))
    return Table(
        title=f"Transfer: {chosen} with people over {len(datasets)} data set{'s' if len(datasets) > 1 else ''}",
        rows=found,
        layout=Layout(
            line, across, "value", best=lambda row: row["value"], extra={"spread": _spread} if len(order) > 1 else {}
        ),
        facts={"datasets": names},
        definitions={
            str(chosen): chosen.definition,
            **({"spread": "largest difference between two groups"} if len(order) > 1 else {}),
        },
        method="Mean over aspects, then over the metrics of a family and the data sets of a group; more is "
        f"better for every metric (turned where less is). {said}",
        notes=notes,
        signature=f"nlgauge:{__version__}|measure:{chosen}"
        f"|people:{'kept' if choice.keep_people else 'out'}|data:{','.join(d.name for d in datasets)}",
    )


def data_rows(choice: Choice, measure: Measure, family: dict[str, str]) -> tuple[list[Row], list[str]]:
    """One row per metric: its correlation with people here, mean over the aspects; and what was not possible."""
    data, aspects, metrics = choice.data, choice.aspects, choice.metrics
    wanted = [a for a in data.aspects if aspects is None or a in aspects]
    names = [m for m in data.metrics if metrics is None or m in metrics]
    if not wanted or not names:
        return [], [f"{data.name}: no {'ratings' if not wanted else 'metric scores'} to compare."]
    here = replace(choice, metrics=names)
    values: dict[str, list[float]] = {name: [] for name in names}
    refused: list[str] = []
    for aspect in wanted:
        try:
            panel = here.panel(aspect, canonical=True)
        except NlgaugeError as error:
            refused.append(str(error))
            continue
        found = evaluate(panel.oriented(), panel.human, [measure])
        for k, name in enumerate(panel.names):
            values[name].append(float(found.value[k, 0]))
    return [
        {
            "data": data.name,
            "metric": name,
            "family": family[name],
            "value": known_mean(some),
            "aspects": sum(not np.isnan(v) for v in some),
        }
        for name, some in values.items()
    ], refused


def plain_name(name: str) -> str:
    """`folder/News.csv.gz` and `news` are the same data set to someone who names groups."""
    return name.replace("\\", "/").rpartition("/")[2].partition(".")[0].lower()


def _groups(datasets: Sequence[Dataset], groups: Said | None) -> tuple[dict[tuple[str, str], str], str]:
    """(family, data set) -> group, and where it was said."""
    if groups is not None:
        return _said(groups, datasets), "Groups as given."
    here = {plain_name(d.name) for d in datasets}
    table = {}
    for cell in transfer_groups():
        for name in (cell.set_name, cell.dataset):
            if plain_name(name) in here:
                table[cell.family, plain_name(name)] = cell.group
    if table:
        return table, "Groups: Table 3 of nimah2023."
    alone = {(ANY, plain_name(d.name)): d.name for d in datasets}
    return alone, f"No groups given ({option('groups')}): each data set by itself."


def _said(groups: Said, datasets: Sequence[Dataset]) -> dict[tuple[str, str], str]:
    here = {plain_name(d.name) for d in datasets}
    found: dict[tuple[str, str], str] = {}
    if not isinstance(groups, Mapping):
        try:
            found = {(row.get("family") or ANY, plain_name(row["dataset"])): row["group"] for row in groups}
        except (KeyError, AttributeError, TypeError):
            raise NlgaugeError("groups: a list has rows with dataset, group and perhaps family.") from None
    else:
        for key, value in groups.items():
            if isinstance(value, Mapping):
                found |= {(key, plain_name(data)): group for data, group in value.items()}
            elif isinstance(value, str):
                found[ANY, plain_name(key)] = value
            else:
                found |= {(ANY, plain_name(data)): key for data in value}
    if not {data for _, data in found} & here:
        raise NameUnknown(f"groups: none of the data sets named there is here. Here: {', '.join(sorted(here))}.")
    return found


def _grouped(rows: list[Row], where: Mapping[tuple[str, str], str]) -> list[str]:
    """Write each row's group into it; say what has none."""
    for row in rows:
        data = plain_name(row["data"])
        row["group"] = where.get((row["family"], data)) or where.get((ANY, data))
    lost = sorted({(row["family"], row["data"]) for row in rows if row["group"] is None})
    if not lost:
        return []
    some = ", ".join(f"{f} on {d}" for f, d in lost[:4]) + (f" and {len(lost) - 4} more" if len(lost) > 4 else "")
    return [f"in no group, left out: {some}."]


def _means(rows: list[Row], line: str, across: str) -> list[Row]:
    return [
        {
            line: name,
            **({} if line == "family" else {"family": mine[0]["family"]}),
            across: group,
            "value": known_mean([r["value"] for r in mine]),
            "metrics": len({r["metric"] for r in mine}),
            "datasets": len({r["data"] for r in mine}),
        }
        for (name, group), mine in grouped(rows, line, across).items()
    ]


def _holes(rows: list[Row], line: str, across: str, order: Sequence[str]) -> list[Row]:
    """What does not exist is shown as such."""
    return [
        {line: name, "family": mine[0]["family"], across: place, "value": float("nan"), "metrics": 0, "datasets": 0}
        for name, mine in grouped(rows, line).items()
        for place in order
        if place not in {row[across] for row in mine}
    ]


def _order_of(rows: list[Row], across: str, wanted: Sequence[str]) -> list[str]:
    here = {row[across] for row in rows}
    return [name for name in dict.fromkeys(wanted) if name in here]


def _spread(rows: list[Row]) -> float:
    values = [row["value"] for row in rows if not np.isnan(row["value"])]
    return max(values) - min(values) if len(values) > 1 else np.nan
