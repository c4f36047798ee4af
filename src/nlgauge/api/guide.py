"""Texts for scripts and agents that come with the package: guide, skill, schema of the JSON output."""

from __future__ import annotations

from importlib.resources import files

from nlgauge.errors import NameUnknown
from nlgauge.registry import did_you_mean

GUIDES = {
    "llms": "llms.txt",  # every verb with its options, the analyses, the pages of the documentation
    "skill": "SKILL.md",  # for an agent: which verb when, exit codes, what not to claim
    "schema": "output.schema.json",  # JSON Schema of `--format json`
    "columns": "columns.toml",  # what each key of a row means
}


def docs(what: str = "llms") -> str:
    """The guide for scripts and agents, the agent skill, or the schema of the JSON output.

    Parameters
    ----------
    what : {'llms', 'skill', 'schema', 'columns'}

    Examples
    --------
    >>> import json
    >>> import nlgauge as ng
    >>> json.loads(ng.docs("schema"))["required"]
    ['tables']
    """
    if what not in GUIDES:
        raise NameUnknown(
            f"docs {what}: no such text.{did_you_mean(what, list(GUIDES))} There are {', '.join(GUIDES)}."
        )
    return (files("nlgauge") / "guide" / GUIDES[what]).read_text(encoding="utf-8")
