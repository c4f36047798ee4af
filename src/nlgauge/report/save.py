"""Figures as files: SVG, PDF and PNG for papers, HTML that works offline.

Plotly's own kaleido draws them: it is small, drives any Chrome or Chromium that is there, and makes all three formats
with plotly's own layout code. MathJax is turned off, because kaleido would fetch it from a host; plotly.js comes from
the package.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.report.figures import figure_of
from nlgauge.report.figures.look import LABEL
from nlgauge.table import Table
from nlgauge.writing import write_whole

if TYPE_CHECKING:
    import plotly.graph_objects as go

PICTURES = ("svg", "png", "pdf", "html")
Theme = Literal["light", "dark", "clear"]
# Colors of text and background. `clear` is dark text on a transparent background, for light slides and pages.
THEMES = {"light": ("#1c2330", "#ffffff"), "dark": ("#e6e9ef", "#14181f"), "clear": ("#1c2330", "rgba(0,0,0,0)")}
WIDTH = 900  # pixels, as in the report; a figure knows its own height
BROWSER = (
    "Chrome or Chromium is needed for .svg, .png and .pdf (Debian: apt-get install chromium; elsewhere: "
    "plotly_get_chrome)"
)


@dataclass(frozen=True)
class Picture:
    """A figure and its output file. Width and height are in pixels; `scale` multiplies those of a PNG."""

    figure: go.Figure
    path: Path
    width: int | None = None
    height: int | None = None
    scale: float = 1.0
    theme: Theme = "light"

    @property
    def form(self) -> str:
        """Return the format, from the suffix."""
        return self.path.suffix.lower().lstrip(".")


def save(
    figure: go.Figure,
    path: str | Path,
    width: int | None = None,
    height: int | None = None,
    scale: float = 1.0,
    theme: Theme = "light",
) -> Path:
    """Write a figure in the format of the suffix: .svg, .png, .pdf or .html.

    save(figure_of(table), "figure.pdf", width=700)
    """
    return save_all([Picture(figure, Path(path), width, height, scale, theme)])[0]


def save_all(pictures: Iterable[Picture]) -> list[Path]:
    """Write several figures with one start of the browser, which takes longer than a figure."""
    pictures = list(pictures)
    for picture in pictures:
        _check(picture)
    for picture in (p for p in pictures if p.form == "html"):
        _write_page(picture)
    _draw([p for p in pictures if p.form != "html"])
    return [p.path for p in pictures]


def save_tables(
    tables: Sequence[Table], path: str | Path, theme: Theme = "light", *, figure: str | None = None
) -> list[Path]:
    """Save the figures of tables, or those of a custom `figure`; several files are numbered (figure-1.svg)."""
    path = Path(path)
    drawn = [made for table in tables if (made := figure_of(table, figure)) is not None]
    if not drawn:
        kinds = ", ".join(dict.fromkeys(t.kind or t.title for t in tables))
        raise NlgaugeError(f"{path}: there is no picture of {kinds or 'no table'}; write .csv, .json, .md or .tex.")
    names = (
        [path]
        if len(drawn) == 1
        else [path.with_name(f"{path.stem}-{i}{path.suffix}") for i in range(1, len(drawn) + 1)]
    )
    return save_all(Picture(f, name, theme=theme) for f, name in zip(drawn, names, strict=True))


def dressed(figure: go.Figure, theme: Theme = "light") -> go.Figure:
    """Return a copy of a figure with the colors of a theme, since figures have a transparent background."""
    import plotly.graph_objects as go

    text, back = THEMES[theme]
    made = go.Figure(figure).update_layout(paper_bgcolor=back, font_color=text)
    made.update_annotations({"bgcolor": back}, selector={"name": LABEL})
    return made


def _check(picture: Picture) -> None:
    if picture.form not in PICTURES:
        raise NlgaugeError(
            f"{picture.path}: cannot save a figure as '{picture.path.suffix}'; use "
            f"{', '.join('.' + p for p in PICTURES)}."
        )
    if picture.theme not in THEMES:
        raise NlgaugeError(f"no theme '{picture.theme}'; use {', '.join(THEMES)}.")
    if min(v for v in (picture.scale, picture.width, picture.height) if v is not None) <= 0:
        raise NlgaugeError(f"{picture.path}: width, height and scale must be positive.")


def _write_page(picture: Picture) -> None:
    """Write the figure as an HTML page, as wide as the window unless a width is given."""
    figure = dressed(picture.figure, picture.theme).update_layout(
        **{k: v for k, v in (("width", picture.width), ("height", picture.height)) if v}
    )
    write_whole(picture.path, figure.to_html(include_plotlyjs=True, include_mathjax=False).encode("utf-8"))


def _draw(pictures: list[Picture]) -> None:
    if not pictures:
        return
    try:
        import kaleido
        from choreographer.errors import BrowserDepsError, BrowserFailedError, ChromeNotFoundError
    except ImportError:
        raise NeedsMissing(
            f"{pictures[0].path}: saving figures needs kaleido: pip install 'nlgauge[figures]'"
        ) from None

    async def draw_each() -> None:
        async with kaleido.Kaleido(n=1, mathjax=False) as browser:
            for picture in pictures:
                figure = dressed(picture.figure, picture.theme)
                size = {"width": picture.width or WIDTH, "height": picture.height or figure.layout.height or 450}
                content = await browser.calc_fig(figure, opts={"format": picture.form, **size, "scale": picture.scale})
                write_whole(picture.path, content)

    # A notebook already runs an event loop, so this one runs in a separate thread.
    with ThreadPoolExecutor(1) as thread:
        try:
            thread.submit(asyncio.run, draw_each()).result()
        except ChromeNotFoundError:
            raise NeedsMissing(f"{pictures[0].path}: {BROWSER}.") from None
        except (BrowserFailedError, BrowserDepsError) as error:
            line = (str(error).strip() or "it does not start").splitlines()[0]
            raise NeedsMissing(f"{pictures[0].path}: the browser cannot be used: {line} {BROWSER}.") from None
