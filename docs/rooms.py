"""Diagram of the packages and their imports: `python docs/rooms.py` writes images/rooms.svg.

Packages are in the order of the import chain, the lowest at the bottom; every arrow is at least one import and points
down. A test fails when the diagram is outdated.
"""

from __future__ import annotations

import ast
import collections
from pathlib import Path

HERE = Path(__file__).resolve().parent
SRC = HERE.parent / "src" / "nlgauge"
IMAGE = HERE / "images" / "rooms.svg"
# Name, and what lives there in a few words.
ROOMS = {
    "cli": "one file per verb: parses, prints",
    "report": "the page, its sections and figures",
    "api": "public functions: correlate, score, …",
    "analyses": "one question each: Panel to Table",
    "datasets": "published sets: fetch, verify, load",
    "scoring": "plan, run, store, engines",
    "metrics": "Metric, and one file per family",
    "models": "weights: finding, loading, running",
    "text": "tokens, stems, sentences, damage",
    "data": "Dataset, Panel, readers, tables",
    "stats": "arrays in, numbers out",
    "kernels": "compiled loops over arrays",
}


def room_of(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def edges() -> collections.Counter[tuple[str, str]]:
    """How many imports go from one room to another."""
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    for path in SRC.rglob("*.py"):
        here = room_of(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nlgauge."):
                there = (node.module or "").split(".")[1]
                if here in ROOMS and there in ROOMS and here != there:
                    found[here, there] += 1
    return found


def drawn() -> str:
    """The picture: a column of rooms, arrows on the right, wider where there are more imports."""
    high, gap, wide = 34, 14, 330
    y = {room: 16 + i * (high + gap) for i, room in enumerate(ROOMS)}
    parts = []
    for (a, b), n in sorted(edges().items(), key=lambda e: (list(ROOMS).index(e[0][0]), list(ROOMS).index(e[0][1]))):
        span = list(ROOMS).index(b) - list(ROOMS).index(a)
        out = wide + 26 + 22 * abs(span)
        top, bottom = y[a] + high / 2 + 4, y[b] + high / 2 - 4
        stroke = 1 if n < 10 else 2 if n < 40 else 3
        parts.append(
            f'<path d="M{wide + 20} {top:g} C{out} {top:g} {out} {bottom:g} {wide + 24} {bottom:g}" class="e" '
            f'stroke-width="{stroke}" marker-end="url(#a)"><title>{a} imports {b}</title></path>'
        )
    for room, words in ROOMS.items():
        parts.append(
            f'<rect x="20" y="{y[room]}" width="{wide}" height="{high}" rx="6" class="r"/>'
            f'<text x="32" y="{y[room] + 15}" class="n">{room}</text>'
            f'<text x="32" y="{y[room] + 28}" class="s">{words}</text>'
        )
    tall = 16 + len(ROOMS) * (high + gap)
    style = (
        ".r{fill:#eef3fb;stroke:#5b7db1}.n{font:600 13px sans-serif;fill:#16202e}.s{font:11px sans-serif;fill:#44546a}"
        ".e{fill:none;stroke:#5b7db1;opacity:.55}"
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 {tall}" role="img" aria-label="Rooms of nlgauge, '
        f'imports go down"><style>{style}</style><rect width="660" height="{tall}" fill="#fff"/><defs><marker id="a" '
        'viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" '
        'orient="auto"><path d="M0 0 8 4 0 8z" fill="#5b7db1"/></marker></defs>'
    )
    return head + "".join(parts) + "</svg>\n"


if __name__ == "__main__":
    IMAGE.write_text(drawn(), encoding="utf-8")
