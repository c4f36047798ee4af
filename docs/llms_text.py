"""llms.txt: help of every verb, the analyses and the pages of the documentation as one text; docs/generate.py writes it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

LLMS = """# NLGauge

> Which automatic metric or LLM judge can I trust to evaluate generated text, for what, and how sure can I be? A command line and a Python package:
> it takes metric scores and human ratings and reports agreement with confidence intervals.

Install: `pip install nlgauge` (extras: `nlgauge list environment`). Start: `nlgauge data check FILE`, then `nlgauge run FILE`. Every verb takes `--format json`;
`nlgauge list schema` is its JSON Schema, `nlgauge list skill` says which verb when and what not to claim. In Python each verb is a function of
`nlgauge` (`import nlgauge as ng; ng.verdicts("answers.csv")`), typed, with a docstring.
"""


def llms() -> str:
    """llms.txt: help of every verb, analyses, pages."""
    from nlgauge import registry
    from nlgauge.api.questions import question
    from nlgauge.cli import commands
    from nlgauge.cli._ending import CODES
    from nlgauge.cli._generate import options_of

    verbs = commands()
    shared = _shared(verbs)
    lines = [LLMS, f"{CODES}.", "", "## Verbs", ""]
    for name, command in verbs.items():
        path = "analyze correlate (one of the analyses below)" if name == "analyze" else name
        lines += [f"### nlgauge {path}", "", *_help(command), "", *_options(command, set(shared)), ""]
    lines += [
        "## Options that many verbs share",
        "",
        *shared.values(),
        "",
        "## Analyses (`nlgauge analyze NAME FILE`)",
        "",
    ]
    for name in registry.names("analysis"):
        extra = ' (`pip install "nlgauge[papers]"`)' if name in registry.IN_PAPERS["analysis"] else ""
        own = [
            o.flags()[0].partition("/")[0]
            for o in options_of(question(name))
            if o.panel == "Options" and not o.argument
        ]
        options = f" Options: {', '.join(own)}." if own else ""
        lines.append(f"- {name}: {registry.get('analysis', name).question}{extra}{options}")
    return "\n".join([*lines, "", "## Documentation (docs/ of the source, or its site)", "", *_pages(), ""])


def _help(command: Any) -> list[str]:
    """The docstring without its marks; examples as they are typed."""
    text = re.sub(r"\[/?bold\]", "", command.help or "")
    parts = [" ".join(part.split()) for part in text.split("\n\n")]
    return [f"    {p}" if p.startswith("nlgauge ") else p for p in parts if p not in ("", "Example", "Examples")]


def _line(option: Any) -> str:
    names = (
        ", ".join([*option.opts, *option.secondary_opts])
        if option.param_type_name == "option"
        else option.metavar or option.name
    )
    return f"- `{names}`: {option.help or ''}".rstrip(": ")


def _options(command: Any, shared: set[str]) -> list[str]:
    return [_line(o) for o in command.params if o.name != "help" and _line(o) not in shared]


def _shared(commands: dict[str, Any]) -> dict[str, str]:
    """Options with the same help in five verbs or more, each once."""
    counts: dict[str, int] = {}
    for command in commands.values():
        for option in command.params:
            counts[_line(option)] = counts.get(_line(option), 0) + 1
    return {line: line for line, n in counts.items() if n >= 5 and "--help" not in line}


def _pages() -> list[str]:
    """The pages in the order of the site, with their first sentence."""
    docs = Path(__file__).parent
    named = re.findall(
        r"^ +- (?:([^:\n]+): )?(\S+\.md)$", (docs.parent / "mkdocs.yml").read_text(encoding="utf-8"), re.M
    )
    lines = []
    for title, page in named:
        text = (docs / page).read_text(encoding="utf-8")
        paragraphs = [" ".join(p.split()) for p in text.split("\n\n")]
        first = next((p for p in paragraphs if p[:1].isalnum() or p[:2] in ("**", "`n")), "")
        plain = re.split(r"(?<=[^.].[.?]) ", re.sub(r"\[([^\]]*)\]\([^)]*\)|\*\*", r"\1", first))[0]
        lines.append(
            f"- [{title or paragraphs[0].lstrip('# ')}]({page}): {plain if len(plain) < 240 else plain[:239] + '…'}"
        )
    return lines
