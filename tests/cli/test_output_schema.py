"""`--format json` of every verb: one shape, keys that are documented, and a schema that holds for what is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import verb_outputs
from jsonschema import Draft202012Validator

import nlgauge as ng
from nlgauge.api.guide import guide_text
from nlgauge.cli import commands

SCHEMA = json.loads(guide_text("schema"))
DUE = "python docs/generate.py writes the schema; a new column gets a line in src/nlgauge/guide/columns.toml"
OF_USER = {"systems", "next"}  # tables with columns that have the user's own names


def documented(output: dict[str, Any]) -> list[str]:
    """What the schema does not hold for or does not name."""
    wrong = [
        f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}"
        for e in Draft202012Validator(SCHEMA).iter_errors(output)
    ]
    for table in output["tables"]:
        kind, rows = table["analysis"], SCHEMA["$defs"]["rows"]["$defs"].get(table["analysis"])
        if rows is None:
            wrong += [f"no kind of table '{kind}'"] if table["rows"] else []
            continue
        pattern = tuple(p[1:].removesuffix(r"\d+$") for p in rows.get("patternProperties", {}))
        keys = {key for row in table["rows"] for key in row if not (pattern and key.startswith(pattern))}
        wrong += [f"{kind}: no column '{key}'" for key in sorted(keys - set(rows["properties"])) if kind not in OF_USER]
    return wrong


def test_every_verb_takes_format() -> None:
    assert [name for name, c in commands().items() if not any("--format" in p.opts for p in c.params)] == []


def test_every_verb_is_among_the_recorded_commands() -> None:
    typed = [f"{line} " for line in verb_outputs.COMMANDS]
    assert [name for name in commands() if not any(line.startswith(f"{name} ") for line in typed)] == []


def test_the_schema_is_valid_and_every_column_has_a_meaning() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    columns = SCHEMA["$defs"]["columns"]["$defs"]
    assert all(column["description"] for column in columns.values())
    assert {c for rows in SCHEMA["$defs"]["rows"]["$defs"].values() for c in rows["properties"]} <= set(columns)


def test_the_schema_refuses_what_is_not_documented() -> None:
    good = {"tables": [ng.correlate(ng.example()).to_dict()]}
    assert documented(json.loads(json.dumps(good))) == []
    row = good["tables"][0]["rows"][0]
    for key, value in (("value", "high"), ("surprise", 1)):
        broken = json.loads(json.dumps(good))
        broken["tables"][0]["rows"] = [{**row, key: value}]
        assert documented(broken)
    assert documented({"tables": [{**good["tables"][0], "rows": [{"metric": "m"}]}]})


@pytest.mark.slow
def test_the_output_of_every_verb_holds_to_the_schema(tmp_path: Path) -> None:
    outputs = verb_outputs.outputs(tmp_path, processes=True)
    wrong = [f"nlgauge {line}: {said}" for line, output in outputs for said in documented(output)]
    assert wrong == [], DUE


@pytest.mark.slow
def test_the_output_of_every_analysis_holds_to_the_schema() -> None:
    wrong = [f"nlgauge {line}: {said}" for line, output in verb_outputs.analyses() for said in documented(output)]
    assert wrong == [], DUE


def test_the_guide_is_printed_and_an_unknown_name_is_one_line() -> None:
    assert verb_outputs.typed(["list", "skill"]).startswith("---\nname: nlgauge\n")
    assert "### nlgauge gate" in verb_outputs.typed(["list", "llms"])
    with pytest.raises(ng.NlgaugeError, match="Did you mean 'schema'"):
        verb_outputs.typed(["list", "shema"])


def test_the_skill_names_only_verbs_and_codes_that_there_are() -> None:
    words = [
        word for line in guide_text("skill").splitlines() for word in line.split("`") if word.startswith("nlgauge ")
    ]
    assert words
    assert {word.split()[1] for word in words} <= {name.split()[0] for name in commands()}
