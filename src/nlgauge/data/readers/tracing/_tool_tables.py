"""Result tables of Ragas and Azure AI Evaluation: which columns are texts, and which only explain a score."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from nlgauge.data.declared import Declared
from nlgauge.data.provenance import tool_of


class ToolTable(NamedTuple):
    """Columns of a tool's result table, by role and in order of preference, and those that are not read."""

    roles: Mapping[str, Sequence[str]]
    aside: re.Pattern[str]


TOOL_TABLES = {
    "Azure AI Evaluation": ToolTable(
        {
            "source": ("inputs.query", "inputs.question", "inputs.conversation"),
            "output": ("inputs.response", "outputs.response", "inputs.answer"),
            "context": ("inputs.context",),
            "references": ("inputs.ground_truth",),
            "system": ("inputs.model", "inputs.system"),
            "input": ("inputs.id", "inputs.query_id"),
        },
        # Evaluators repeat their score as gpt_NAME and NAME_score, and derive a result from a threshold.
        re.compile(
            r"^outputs\..*_(reason|result|threshold|status|properties|passed|details|prompt_tokens|total_tokens|"
            r"completion_tokens|finish_reason|model|sample_input|sample_output)$"
        ),
    ),
    "Ragas": ToolTable(
        {
            "source": ("user_input",),
            "output": ("response",),
            "context": ("retrieved_contexts",),
            "references": ("reference",),
        },
        re.compile(r"^(reference_contexts|rubrics?|persona_name|query_style|query_length|synthesizer_name)$"),
    ),
}


def declare_tool(declared: Declared, columns: Sequence[str]) -> Declared:
    """Add the roles of a tool's columns to the user's declarations, which take precedence."""
    tool = tool_of(columns)
    if tool not in TOOL_TABLES:
        return declared
    known, names = TOOL_TABLES[tool], set(columns)
    taken = declared.mentioned
    found = {role: next((n for n in wanted if n in names), None) for role, wanted in known.roles.items()}
    roles = {role: name for role, name in found.items() if name and name not in taken}
    aside = [n for n in columns if n not in taken and (known.aside.search(n) or _repeats(n, names))]
    return replace(declared, columns={**roles, **declared.columns}, ignore=[*declared.ignore, *map(_literal, aside)])


def _repeats(name: str, names: set[str]) -> bool:
    """Return whether a column is a copy of another: gpt_NAME of NAME, NAME_score of NAME."""
    return name.startswith("outputs.") and any(
        copy != name and copy in names for copy in (name.removesuffix("_score"), name.replace(".gpt_", ".", 1))
    )


def _literal(name: str) -> str:
    """Return a pattern that matches only this name."""
    return re.sub(r"([*?[])", r"[\1]", name)
