"""Tables and pictures of docs/papers/gao2025_judges.md, measured anew:

    NLGAUGE_DATA=... python bench/gao2025_judges_page.py [--draws 200]

Runs `nlgauge reproduce gao2025 judge-measures`, writes its tables between the marks of the page and draws its pictures.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import replace
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "papers" / "gao2025_judges.md"
DRAWN = {"judge-measures": ("gao2025-judges", 900), "judge-statements": ("gao2025-judges-statements", 900)}
BLOCK = re.compile(r"(<!-- measured: ([\w-]+) -->\n).*?(<!-- end -->)", re.S)


def command() -> None:
    from nlgauge.report.figures import figure_of
    from nlgauge.report.save import Picture, save_all
    from nlgauge_papers import Sources
    from nlgauge_papers.reproduce import reproduce

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    asked = parser.parse_args()
    sources = Sources(tell=lambda line: print(line, file=sys.stderr, flush=True))
    tables = {t.kind: t for t in reproduce("gao2025", "judge-measures", sources, options={"draws": asked.draws})}
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda b: f"{b[1]}\n{_shown(tables[b[2]])}\n\n{b[3]}", text), encoding="utf-8")
    pictures = []
    for kind, (name, width) in DRAWN.items():
        wanted = [row for row in tables[kind] if _pictured(row["family"], kind)]
        figure = figure_of(replace(tables[kind], rows=wanted))
        assert figure is not None
        pictures.append(Picture(figure, DOCS / "images" / "figures" / f"{name}.svg", width, None))
    sys.path.insert(0, str(DOCS))
    from pictures import slim

    for path in save_all(pictures):
        slim(path)
        print(f"{path.name} {path.stat().st_size / 1000:.0f} kB")


def _pictured(family: str, kind: str) -> bool:
    if kind == "judge-statements":
        return family in ("the paper's 30 sets", "9 judges", "metrics")
    return "levels" not in family and "outputs of" not in family


def _shown(table: object) -> str:
    lines = table.to_markdown().splitlines()  # type: ignore[attr-defined]
    return "\n".join(lines[2:] if lines[0].startswith("**") else lines).strip()


if __name__ == "__main__":
    command()
