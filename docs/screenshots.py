"""Screenshots of the report and the explorer, from the built-in example and files of examples/, into docs/images/screens.

`python docs/screenshots.py [report explorer]` (or `report:answer` for one of them) needs Playwright, a Chromium and, for
small files, Pillow. Look at what comes out: labels readable, nothing cut off, the message clear in five seconds.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCREENS = Path(__file__).parent / "images" / "screens"
NLGAUGE = [sys.executable, "-m", "nlgauge"]
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
EXAMPLES = Path(__file__).parents[1] / "examples"
EXAMPLE = "example --quick"
JUDGED = shlex.join([str(EXAMPLES / "judged.csv"), "--quick"])
MINE = shlex.join([str(EXAMPLES / "mine.csv"), "--columns", "human=coherence", "--quick"])


@dataclass(frozen=True)
class Shot:
    """A part of a report: the section to open ("" is the first screen), and the size in pixels."""

    name: str
    run: str
    section: str = ""
    width: int = 1280
    height: int = 860
    dark: bool = False


PHONE = {"width": 390, "height": 844}
SHOTS = [
    Shot("answer", MINE, height=560),  # of the README
    Shot("example", EXAMPLE),
    Shot("example-phone", EXAMPLE, **PHONE),
    Shot("example-annotators", EXAMPLE, "annotators"),
    Shot("example-agrees", EXAMPLE, "agrees", dark=True),
    Shot("judged", JUDGED),
    Shot("judged-phone", JUDGED, **PHONE),
]


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        chromium = play.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()


def reports(only: str = "") -> None:
    made: dict[str, Path] = {}
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        for shot in (s for s in SHOTS if only in ("", s.name)):
            if shot.run not in made:
                made[shot.run] = Path(folder) / f"{len(made)}.html"
                given = [*shlex.split(shot.run), "-o", str(made[shot.run])]
                subprocess.run([*NLGAUGE, "run", *given], check=True, stdout=subprocess.DEVNULL)
            scheme = "dark" if shot.dark else "light"
            page = chromium.new_page(viewport={"width": shot.width, "height": shot.height}, color_scheme=scheme)
            page.goto(made[shot.run].as_uri() + (f"#{shot.section}" if shot.section else ""))
            page.wait_for_timeout(500)
            keep(page, shot.name)
            page.close()


def explorer() -> None:
    server = subprocess.Popen(
        [
            *NLGAUGE,
            "explore",
            "example",
            "--no-browser",
            "--label-file",
            str(Path(tempfile.mkdtemp()) / "mine.labels.csv"),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        lines = iter(server.stdout or [])
        address = next(match[0] for line in lines if (match := re.search(r"http://127\.0\.0\.1\S+", line)))
        with browser() as chromium:
            page = chromium.new_page(viewport={"width": 1280, "height": 860})
            page.goto(address)
            page.wait_for_selector("#plot .main-svg")
            page.wait_for_selector("#list button")
            page.locator("#list button").nth(2).click()
            page.wait_for_timeout(800)
            page.evaluate("window.scrollTo(0, 0)")
            keep(page, "explorer")
            page.click("#mode")
            page.wait_for_timeout(800)
            page.keyboard.press("4")
            page.wait_for_timeout(1000)
            keep(page, "explorer-labels")
    finally:
        server.terminate()


def keep(page: Any, name: str) -> None:
    """As PNG with 256 colors where Pillow is there: a third of the size (the method keeps rare colors, such as those
    of a legend).
    """
    SCREENS.mkdir(parents=True, exist_ok=True)
    path = SCREENS / f"{name}.png"
    page.mouse.move(0, 0)
    page.screenshot(path=str(path))
    try:
        from PIL import Image
    except ImportError:
        pass
    else:
        Image.open(path).convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
            path, optimize=True
        )
    print(path.name, path.stat().st_size // 1000, "kB")


PARTS = {"explorer": explorer, "report": reports}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        name, _, only = part.partition(":")
        PARTS[name](*[only] if only else [])
