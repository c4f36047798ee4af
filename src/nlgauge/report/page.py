"""The report as one HTML file that works offline, prints well, and can be read without JavaScript."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

import nlgauge
from nlgauge.bibliography import cited, reference
from nlgauge.foreign_text import for_script, visible, with_code
from nlgauge.report.answer_types import Mark, ReportAnswer
from nlgauge.report.answer_words import STATISTICS, USE_STATISTICS, USES
from nlgauge.report.forest import scale_of
from nlgauge.report.sections import Answered, Finding, Findings, Section
from nlgauge.report.sections.words import ci, percent, two
from nlgauge.report.views import cell_text, drawing, grid_of, method_of, open_table, sort_key, title_of
from nlgauge.table import Table
from nlgauge.writing import write_whole

TEMPLATES = ("page.html.j2", "answer.html.j2", "section.html.j2", "page.css", "page.js")


def write_report(
    path: Path, name: str, card: Sequence[str], tables: Sequence[Table], command: Sequence[str] = ()
) -> Path:
    """Write a page with one section per table, and return its path."""
    write_whole(path, render(name, card, tables, command))
    return path


def render(name: str, card: Sequence[str], tables: Sequence[Table], command: Sequence[str] = ()) -> str:
    """Return a page that shows only tables, as HTML."""
    shown = [
        Answered(Section(f"s{k}", k, t.title, "", "", lambda run: Findings()), Findings([Finding("", "", [t])]))
        for k, t in enumerate(tables, start=1)
    ]
    return page_of(name, shown, command, card=card)


def page_of(
    name: str,
    answered: Sequence[Answered],
    command: Sequence[str] = (),
    answer: ReportAnswer | None = None,
    card: Sequence[str] = (),
) -> str:
    """Return the report as HTML: the answer, all sections, and what was not computed. Every text is escaped."""
    import jinja2

    read = {n: files("nlgauge.report").joinpath(n).read_text(encoding="utf-8") for n in TEMPLATES}
    rooms = jinja2.Environment(
        loader=jinja2.DictLoader(read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    rooms.filters |= {"code": _code, "because": _because, "share": percent, "two": two, "split": split_first}
    rooms.globals |= {
        "ci": ci,
        "cited": cited,
        "grid": grid_of,
        "cell_text": cell_text,
        "sort_key": sort_key,
        "drawing": drawing,
        "open_table": open_table,
        "method_of": method_of,
        "reference": reference,
        "title_of": lambda table: title_of(table, name),
        "scale_of": scale_of,
        "statistics": STATISTICS,
        "use_statistics": USE_STATISTICS,
    }
    outputs = next((a.found.outputs for a in answered if a.found.outputs is not None), None)
    return rooms.get_template("page.html.j2").render(
        name=name,
        heading=_heading(name, answer),
        answer=answer,
        card=card,
        answered=[a for a in answered if not a.missing],
        missing=[a for a in answered if a.missing],
        uses=[] if answer is None else [use for use in USES if any(use in each.uses for each in answer.aspects)],
        outputs=None if outputs is None else for_script(outputs.data),
        css=read["page.css"],
        js=read["page.js"],
        home=_home(),
        version=nlgauge.__version__,
        command="nlgauge " + " ".join(command),
        date=datetime.date.today().isoformat(),
    )


def _code(text: str) -> Any:
    """Return a text with what stands between backticks as code."""
    return with_code(text) if "`" in text else visible(text)


def split_first(text: str) -> tuple[str, str]:
    """Return the first sentence of a text, and the rest.

    >>> split_first("a: 0.7 [0.6, 0.8] (n = 2). It is v. 2. Good.")
    ('a: 0.7 [0.6, 0.8] (n = 2).', 'It is v. 2. Good.')
    """
    end = re.search(r"(?<=[\w)\]]{2}\.) (?=[A-Z0-9])|(?<=\)\.) ", text)
    return (text, "") if end is None else (text[: end.start()], text[end.end() :])


def _heading(name: str, answer: ReportAnswer | None) -> str:
    """Return the heading of the page."""
    aspects = [] if answer is None else answer.aspects
    kind = "judge" if any(a.judged for a in aspects) else "metric"
    names: list[Any] = list(dict.fromkeys(m.metric for a in aspects for m in a.metrics))
    if not names:
        return name
    return f"{name}: evaluation of {names[0] if len(names) == 1 else f'{len(names)} {kind}s'}"


def _home() -> str:
    """Return the address of the project, if the package declares one; else the top of the page."""
    try:
        urls = metadata("nlgauge").get_all("Project-URL") or []
    except PackageNotFoundError:
        urls = []
    return next((url.partition(",")[2].strip() for url in urls), "#report")


def _because(mark: Mark) -> str:
    """Return why a mark has no badge or no interval."""
    return mark.reason or ""
