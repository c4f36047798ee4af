"""The report: one HTML file that works offline. Every text is escaped by the template."""

from __future__ import annotations

import datetime
import json
import platform
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import nlgauge
from nlgauge.errors import NlgaugeError
from nlgauge.report.figures import figure_of
from nlgauge.table import Table


def write_report(
    path: Path, name: str, card: Sequence[str], tables: Sequence[Table], command: Sequence[str] = ()
) -> Path:
    """Write the page and say where it is."""
    html = render(name, card, tables, command)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".part")
        partial.write_text(html, encoding="utf-8")
        partial.replace(path)  # a reader never sees half a page
    except OSError as error:
        raise NlgaugeError(
            f"{path}: the report cannot be written ({error.strerror}); name another place with -o."
        ) from None
    return path


def render(name: str, card: Sequence[str], tables: Sequence[Table], command: Sequence[str] = ()) -> str:
    import jinja2
    from plotly.offline import get_plotlyjs

    source = files("nlgauge.report").joinpath("page.html.j2").read_text(encoding="utf-8")
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(source)
    sections = [{"table": t, "grid": t.grid(), "figure": _figure(t)} for t in tables]
    return template.render(
        name=name, card=card, sections=sections, plotly=get_plotlyjs(), version=nlgauge.__version__,
        command="nlgauge " + " ".join(command), date=datetime.date.today().isoformat(),
        versions=", ".join(f"{p} {version(p)}" for p in ("numpy", "numba", "polars", "plotly")),
        python=platform.python_version(),
    )  # fmt: skip


def _figure(table: Table) -> str | None:
    figure = figure_of(table)
    return None if figure is None else _for_script(figure.to_json())


def _for_script(text: str | None) -> str:
    """JSON that may stand inside <script>: no tag or comment can begin in it."""
    plain = json.dumps(json.loads(text or "{}"), ensure_ascii=True)
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
