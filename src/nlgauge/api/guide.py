"""Guides for scripts and AI agents that are part of the package: guide, skill, and schema of the JSON output."""

from __future__ import annotations

from importlib.resources import files

GUIDES = {
    "llms": "llms.txt",  # every verb with its options, the analyses, the pages of the documentation
    "skill": "SKILL.md",  # for an agent: which verb when, exit codes, what not to claim
    "schema": "output.schema.json",  # JSON Schema of `--format json`
    "columns": "columns.toml",  # what each key of a row means
}


def guide_text(name: str) -> str:
    """Return the guide for scripts and agents (llms), the agent skill, the schema of the JSON output, or its columns.

    >>> import json
    >>> json.loads(guide_text("schema"))["required"]
    ['tables']
    """
    return (files("nlgauge") / "guide" / GUIDES[name]).read_text(encoding="utf-8")
