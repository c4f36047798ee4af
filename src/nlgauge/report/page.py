"""The report: one HTML file that works offline. Every text is escaped by the template."""

from __future__ import annotations

import datetime
import functools
import gzip
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import nlgauge
from nlgauge.foreign_text import for_script, visible, with_code
from nlgauge.number import percent
from nlgauge.report.answer import Mark, ReportAnswer
from nlgauge.report.answer_words import STATISTICS, USES, ci
from nlgauge.report.sections import Answered
from nlgauge.report.views import PartView, SectionView, Views, sections_of
from nlgauge.table import Table
from nlgauge.writing import write_whole

# The signs of base64.b85encode, but "," for "<", which could begin a comment inside the script element.
BASE85 = np.frombuffer(
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~", dtype=np.uint8
)


def write_report(
    path: Path, name: str, card: Sequence[str], tables: Sequence[Table], command: Sequence[str] = ()
) -> Path:
    """A page of tables, one section each, and where it is."""
    return _write(path, render(name, card, tables, command))


def write_page(
    path: Path,
    name: str,
    answered: Sequence[Answered],
    command: Sequence[str] = (),
    answer: ReportAnswer | None = None,
    views: Views | None = None,
) -> Path:
    """The report: the answer, all sections, and where it is; `views` may have drawn figures already."""
    views = views or Views(name)
    judged = any(a.section.key == "verdicts" and a.found.parts for a in answered)
    title = "How far can I rely on the judge?" if judged else "Which metric can I trust?"
    title = title if any(a.section.key == "agrees" for a in answered) else "Which system is best by the choices made?"
    sections = list(sections_of(answered, views))
    if answer is not None:
        for part in (part for section in sections if section.key in ("uses", "verdicts") for part in section.parts):
            mine = next((each.sentences for each in answer.aspects if each.about == part.about), {})
            part.sentences = {use: text for use, text in mine.items() if use}
    return _write(path, _page(name, title, answer or (), sections, views, command))


def render(name: str, card: Sequence[str], tables: Sequence[Table], command: Sequence[str] = ()) -> str:
    """Return a page that shows only tables, as HTML."""
    views = Views(name)
    shown = [SectionView(f"s{k}", t.title, [PartView("", "", [views.table(t)])]) for k, t in enumerate(tables, start=1)]
    return _page(name, "Which metric agrees with people?", card, shown, views, command)


def _page(
    name: str,
    title: str,
    top: Sequence[str] | ReportAnswer,
    sections: list[SectionView],
    views: Views,
    command: Sequence[str],
) -> str:
    import jinja2

    here = files("nlgauge.report")
    read = {
        n: here.joinpath(n).read_text(encoding="utf-8")
        for n in (
            "page.html.j2",
            "answer.html.j2",
            "section.html.j2",
            "page.css",
            "section.css",
            "answer.js",
            "page.js",
            "section.js",
        )
    }
    rooms = jinja2.Environment(
        loader=jinja2.DictLoader(read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    rooms.filters |= {"code": with_code, "because": _because, "share": percent}
    # Tables are packed while the page is rendered, so the data come after all sections.
    rooms.globals |= {"keep": views.keep, "packed": lambda: _pack(for_script(views.packed))}
    return rooms.get_template("page.html.j2").render(
        name=name,
        title=title,
        sections=sections,
        plotly=packing_plotly().result(),
        first_js=read["answer.js"],
        **_top(top),
        css=read["page.css"] + read["section.css"],
        js=read["page.js"] + read["section.js"],
        version=nlgauge.__version__,
        command="nlgauge " + " ".join(command),
        date=datetime.date.today().isoformat(),
    )


def _top(top: Sequence[str] | ReportAnswer) -> dict[str, Any]:
    """What the first screen shows: the answer, or a few lines where there is none."""
    if not isinstance(top, ReportAnswer):
        return {"answer": None, "card": top, "uses": [], "statistics": {}, "answer_data": ""}
    uses = [use for use in USES if any(use in each.uses for each in top.aspects)]
    data = for_script(_rounded(top.to_dict()))
    return {"answer": top, "card": (), "uses": uses, "statistics": STATISTICS, "answer_data": data}


def _rounded(value: Any) -> Any:
    """Four decimals are enough for a picture; sentences and reasons stand on the page already."""
    if isinstance(value, dict):
        return {
            k: _rounded(v)
            for k, v in value.items()
            if k not in ("sentences", "reason", "warnings", "failures", "evaluated")
        }
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return round(value, 4) if isinstance(value, float) else value


def _because(mark: Mark) -> str:
    """Why a mark is what it is."""
    if mark.low is None or mark.high is None or mark.value is None:
        return f"{mark.badge or 'no badge'}: {mark.reason}" if mark.reason else mark.badge or "no badge"
    return f"{mark.badge or 'no badge'}: {ci(mark.value, mark.low, mark.high)}"


@functools.cache
def packing_plotly() -> Future[str]:
    """Plotly, two megabytes instead of five; the page unpacks it when the first figure comes into view.

    Packed beside the analyses: whoever writes a page asks for it early.
    """

    def packed() -> str:
        from plotly.offline import get_plotlyjs

        return _pack(get_plotlyjs())

    with_one = ThreadPoolExecutor(1, thread_name_prefix="plotly")
    future = with_one.submit(packed)
    with_one.shutdown(wait=False)
    return future


def _pack(text: str) -> str:
    """Packed, in base 85: a sixteenth less than base 64. As base64.b85encode writes it, five times faster."""
    packed = gzip.compress(text.encode(), compresslevel=6, mtime=0)
    spare = -len(packed) % 4
    words = np.frombuffer(packed + bytes(spare), dtype=">u4").astype(np.uint32)
    digits = np.empty((len(words), 5), dtype=np.uint8)
    for place in range(4, -1, -1):
        words, digits[:, place] = np.divmod(words, np.uint32(85))
    return BASE85[digits].tobytes()[: digits.size - spare].decode("ascii")


def _write(path: Path, html: str) -> Path:
    write_whole(path, html)
    return path
