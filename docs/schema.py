"""output.schema.json: the keys of `--format json` of every verb, from the tables that the verbs give and the meanings in
columns.toml. `python docs/generate.py` writes it.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parent.parent
GUIDE = REPO / "src" / "nlgauge" / "guide"
TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
CANONICAL = {"metric", "aspect", "measure", "value"}  # others may be left out where the data do not have them
TEXT, TEXTS = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
TABLE = {
    "type": "object", "required": ["analysis", "title", "method", "signature", "notes", "definitions", "rows"],
    "additionalProperties": False,
    "properties": {
        "analysis": {**TEXT, "description": "kind of table: an analysis of `nlgauge list analyses`, or what the verb makes"},
        "title": {**TEXT, "description": "heading for people"},
        "method": {**TEXT, "description": "how the numbers were computed, in one or two sentences"},
        "signature": {**TEXT, "description": "version, options and seed: what another group needs to repeat the numbers"},
        "answers": {**TEXTS, "description": "what the numbers say, in sentences"},
        "notes": {**TEXTS, "description": "what was left out, guessed or could not be computed"},
        "headlines": {**TEXTS, "description": "warnings that must be read before the numbers"},
        "definitions": {"type": "object", "additionalProperties": TEXT, "description": "words of the table -> meaning"},
        "facts": {"type": "object", "description": "what is true of the table and not of one row, e.g. the verdict of a gate"},
        "rows": {"type": "array", "items": {"type": "object"}},
    },
}  # fmt: skip


def meanings() -> dict[str, str]:
    """Column -> meaning; `*` stands for a number."""
    return tomllib.loads((GUIDE / "columns.toml").read_text(encoding="utf-8"))


def entry_of(column: str) -> str:
    """The name under which a column stands in columns.toml."""
    return re.sub(r"_\d+$", "_*", column)


def recorded() -> list[tuple[str, dict[str, Any]]]:
    """(command, its JSON) of every verb and every analysis."""
    sys.path.insert(0, str(REPO / "tests" / "cli"))
    sys.path.insert(0, str(REPO / "tests"))
    import verb_outputs

    with tempfile.TemporaryDirectory() as folder:
        return [*verb_outputs.outputs(Path(folder)), *verb_outputs.analyses()]


def schema_of(found: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """JSON Schema (2020-12) of what the verbs printed: each kind of table has its rows, each column its meaning."""
    known, types = meanings(), dict[str, set[str]]()
    kinds: dict[str, tuple[set[str], set[str]]] = {}  # columns of all rows; columns of some
    for _, output in found:
        for table in output["tables"]:
            for row in table["rows"]:
                always, sometimes = kinds.setdefault(table["analysis"], (set(row), set()))
                sometimes |= set(row)
                always &= set(row)
                for column, value in row.items():
                    if value is not None and entry_of(column) in known:
                        types.setdefault(entry_of(column), set()).add(TYPES[type(value)])
    columns = {
        name: {"type": [*sorted(_merged(types.get(name, {"number"}))), "null"], "description": text}
        for name, text in sorted(known.items())
    }
    rows = {}
    for kind, (always, sometimes) in sorted(kinds.items()):
        mine = sorted({entry_of(c) for c in sometimes} & set(known))
        if not kind.endswith(".py") and mine:
            rows[kind] = {
                "type": "object",
                "required": sorted(always & CANONICAL),
                "properties": {c: {"$ref": f"#/$defs/columns/$defs/{c}"} for c in mine if "*" not in c},
                **(
                    {
                        "patternProperties": {
                            f"^{c[:-1]}\\d+$": {"$ref": f"#/$defs/columns/$defs/{c}"} for c in mine if "*" in c
                        }
                    }
                    if any("*" in c for c in mine)
                    else {}
                ),
            }
    chosen = [
        {
            "if": {"properties": {"analysis": {"const": kind}}},
            "then": {"properties": {"rows": {"items": {"$ref": f"#/$defs/rows/$defs/{kind}"}}}},
        }
        for kind in rows
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "nlgauge-output/1",
        "title": "What `nlgauge VERB … --format json` prints",
        "description": "Written by docs/generate.py. Rows may have further columns that you named: --by, --cluster, your own analysis.",
        "type": "object",
        "required": ["tables"],
        "additionalProperties": False,
        "properties": {"tables": {"type": "array", "items": {"$ref": "#/$defs/table"}}},
        "$defs": {"table": {**TABLE, "allOf": chosen}, "rows": {"$defs": rows}, "columns": {"$defs": columns}},
    }


def _merged(types: set[str]) -> set[str]:
    return types - {"integer"} if "number" in types else types


def written(schema: dict[str, Any]) -> str:
    """As JSON with one line for each kind of table and each column."""
    lines = json.dumps(schema, ensure_ascii=False, indent=1).splitlines()
    text, defs = "\n".join(lines), schema["$defs"]
    for items in (defs["rows"]["$defs"], defs["columns"]["$defs"]):
        for name, item in items.items():
            long = json.dumps({name: item}, ensure_ascii=False, indent=1).splitlines()[1:-1]
            text = text.replace(
                "\n".join("   " + line for line in long),
                f"    {json.dumps(name)}: {json.dumps(item, ensure_ascii=False)}",
                1,
            )
    for item in defs["table"]["allOf"]:
        long = json.dumps(item, ensure_ascii=False, indent=1).splitlines()
        text = text.replace("\n".join("    " + line for line in long), "    " + json.dumps(item, ensure_ascii=False), 1)
    return text + "\n"


def verbs_and_tables(found: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, list[str]]:
    """Verb -> kinds of its tables."""
    kinds: dict[str, list[str]] = {}
    for line, output in found:
        words = line.split()
        verb = (
            " ".join(words[:2])
            if words[0] in ("analyze", "data", "cache", "train", "list", "reproduce") and words[1:]
            else words[0]
        )
        if words[0] != "analyze" or words[2:]:  # an analysis alone gives the table of its name
            kinds[verb] = list(dict.fromkeys([*kinds.get(verb, []), *(t["analysis"] for t in output["tables"])]))
    return kinds
