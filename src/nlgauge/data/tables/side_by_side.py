"""Tables with the outputs of several systems side by side: `GPT-4 answer`, `GPT-4 rating`, `Claude answer`, …

They become one row per output, with a column `system`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

import polars as pl

from nlgauge.data.tables.columns import is_number
from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.vocabulary import NAMES, REFERENCES, plain, quoted

MARKS = " _.:-"
# Also for an object of outputs, {system: output}.
OUTPUTS = {*NAMES["output"], *(f"{name}s" for name in NAMES["output"]), "summaries", "stories", "replies"}
# Names of parts of a record: `summary.text` is not an output of a system "text".
PARTS = {name for role in ("output", "system", "source", "input") for name in NAMES[role]} - {"mt"}
# Next to the name of an output, these words describe the text, not the system.
NO_SYSTEMS = frozenset(
    """expected reference references ref gold golden ideal correct actual generated model llm system predicted
    groundtruth target source original user final raw full short best previous prompt input new old""".split()
)


def explode_outputs(table: RawTable, mentioned: Collection[str] = ()) -> RawTable:
    """Return the table with one row per output if it has outputs side by side and none of their columns is declared."""
    frame = table.frame
    names = {plain(c) for c in frame.columns}
    if table.nested or not names.isdisjoint((*NAMES["output"], *NAMES["system"])):
        return table
    texts = [c for c in frame.columns if frame[c].dtype == pl.String and not is_number(table, c)]
    for first in (True, False):
        systems = _systems(texts, first)
        if systems:
            fields = _fields(frame.columns, systems, first)
            columns = [c for of in fields.values() for c in of.values()]
            if mentioned and not set(mentioned).isdisjoint(columns):
                return table
            return _melted(table, systems, fields, columns)
    return table


def _split(column: str, first: bool) -> list[tuple[str, str]]:
    """Split a name at every separator into (system, field); `first` says that the system comes first.

    Names such as `answer (GPT-4)` are split, too.
    """
    if not first and (match := re.fullmatch(r"(?P<field>[^()]+?)\s*\((?P<system>[^()]+)\)", column)):
        return [(match["system"].strip(), match["field"])]
    cuts = [(column[:i].strip(MARKS), column[i:].strip(MARKS)) for i, sign in enumerate(column) if sign in MARKS]
    return [(a, b) if first else (b, a) for a, b in cuts if a and b]


def _systems(texts: list[str], first: bool) -> list[str]:
    """Return the systems that are named next to one name of outputs, if there are at least two."""
    by_field: dict[str, list[str]] = {}
    for column in texts:
        if REFERENCES.match(column):
            continue
        for system, field in _split(column, first):
            if plain(field) in OUTPUTS:
                by_field.setdefault(plain(field), []).append(system)
                break
    systems = max(by_field.values(), key=len, default=[])
    bare = [plain(s) for s in systems]
    fine = len(set(bare)) == len(bare) > 1 and not any(b.isdigit() for b in bare)
    return systems if fine and (NO_SYSTEMS | PARTS).isdisjoint(bare) else []


def _fields(columns: list[str], systems: list[str], first: bool) -> dict[str, dict[str, str]]:
    """Map each field that at least two of the systems have to its columns by system."""
    by_name = {plain(s): s for s in systems}
    by_system: dict[str, dict[str, str]] = {}
    for column in columns:
        for system, field in (*_inside(column, systems), *_split(column, first)):
            if plain(system) in by_name and not REFERENCES.match(column):
                by_system.setdefault(field, {})[by_name[plain(system)]] = column
                break
    return {field: of for field, of in by_system.items() if len(of) > 1 and field not in (*columns, "system")}


def _inside(column: str, systems: list[str]) -> list[tuple[str, str]]:
    """Return (system, field) if the system is a part of a dotted name: `ratings.t5.fluency`."""
    return [(s, f".{column}.".replace(f".{s}.", ".", 1).strip(".")) for s in systems if f".{s}." in f".{column}."]


def _melted(table: RawTable, systems: list[str], fields: dict[str, dict[str, str]], columns: list[str]) -> RawTable:
    frame = table.frame
    shared = frame.drop(columns)
    names = {f: "output" if plain(f) in OUTPUTS and plain(f) not in NAMES["output"] else f for f in fields}
    parts = [
        shared.with_columns(
            pl.lit(system).alias("system"),
            *(
                frame[of[system]].alias(names[field]) if system in of else pl.lit(None).alias(names[field])
                for field, of in fields.items()
            ),
        )
        for system in systems
    ]
    line_of = table.where.line_of
    where = replace(table.where, line_of=lambda row: line_of(row % frame.height))
    note = f"outputs side by side ({quoted(columns, 4)}) are read as one row per output of {quoted(systems)}"
    melted = pl.concat(parts, how="vertical_relaxed")
    return replace(table, frame=melted, where=where, notes=[*table.notes, note], known={})
