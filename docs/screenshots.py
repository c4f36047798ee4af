"""Screenshots of the report, the explorer and a terminal, from real data, into docs/images/screens.

`NLGAUGE_DATA=… python docs/screenshots.py [report explorer terminal]` needs SummEval, USR and WMT23, Playwright, a
Chromium and, for small files, Pillow. Look at what comes out: labels readable, nothing cut off, the message clear in
five seconds.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCREENS = Path(__file__).parent / "images" / "screens"
NLGAUGE = [sys.executable, "-m", "nlgauge"]
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SUMMEVAL = "summeval --aspect coherence,relevance --quick"
USR = (
    "usr-topical --aspect Overall,Engaging --metrics "
    "bleu,rougeL,BERTScore,MoverScore,ctc_d_ground,unieval_overall --quick"
)
# Not --quick: 200 draws cannot give a p below .005, which Holm's correction multiplies by the number of pairs.
WMT23 = (
    "wmt23-en-de --aspect mqm --metrics "
    "GEMBA-MQM-src,XCOMET-Ensemble-refA,COMET-refA,BERTscore-refA,BLEU-refA,Random-sysname-src"
)


@dataclass(frozen=True)
class Shot:
    """A part of a report: the id of the heading to scroll to ("" is the top), and the size in pixels."""

    name: str
    run: str
    heading: str = ""
    width: int = 1180
    height: int = 760
    dark: bool = False


SHOTS = [
    Shot("report", SUMMEVAL),
    Shot("report-agrees", SUMMEVAL, "agrees", height=900),
    Shot("report-people", USR, "people", height=820),
    Shot("report-real", WMT23, "real", height=660),
    Shot("report-trust", SUMMEVAL, "trust", height=980, dark=True),
    Shot("report-phone", SUMMEVAL, width=375, height=780),
]
# Terminal sessions: a name, the command as people type it, and the number of columns.
SESSIONS = [
    ("terminal-meta", "nlgauge meta usr-topical --aspect Overall --metrics "
                      "bleu,rougeL,BERTScore,MoverScore,ctc_d_ground,unieval_overall,perplexity --measure "
                      "input/kendall,system/pearson,global/spearman", 104),
    ("terminal-compare", "nlgauge compare summeval --aspect relevance --measure input/kendall --draws 10000", 110),
]  # fmt: skip


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        chromium = play.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()


def reports() -> None:
    made: dict[str, Path] = {}
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        for shot in SHOTS:
            if shot.run not in made:
                made[shot.run] = Path(folder) / f"{len(made)}.html"
                given = [*shlex.split(shot.run), "-o", str(made[shot.run])]
                subprocess.run([*NLGAUGE, "report", *given], check=True, stdout=subprocess.DEVNULL)
            scheme = "dark" if shot.dark else "light"
            page = chromium.new_page(viewport={"width": shot.width, "height": shot.height}, color_scheme=scheme)
            page.goto(made[shot.run].as_uri())
            # Figures wait until they come into view.
            page.evaluate("window.nlgauge && nlgauge.drawAll && nlgauge.drawAll()")
            page.wait_for_selector(".main-svg", state="attached")
            page.wait_for_timeout(1500)
            if shot.heading:
                page.locator(f"#{shot.heading}").evaluate(
                    "h => window.scrollTo(0, h.getBoundingClientRect().top + scrollY - 20)"
                )
            page.wait_for_timeout(800)
            keep(page, shot.name)
            page.close()


def explorer() -> None:
    server = subprocess.Popen(
        [*NLGAUGE, "explore", "usr-topical", "--aspect", "Overall", "--no-browser"],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        lines = iter(server.stdout or [])
        address = next(match[0] for line in lines if (match := re.search(r"http://127\.0\.0\.1\S+", line)))
        with browser() as chromium:
            page = chromium.new_page(viewport={"width": 1280, "height": 860})
            page.goto(address)
            page.wait_for_selector("#plot .main-svg")
            page.select_option("#aspect", "Overall")
            page.select_option("#metric", "MoverScore")
            page.wait_for_timeout(800)
            page.locator("#list button").first.click()
            page.wait_for_timeout(800)
            page.evaluate("window.scrollTo(0, 0)")
            keep(page, "explorer")
            page.select_option("#other", "unieval_overall")
            page.wait_for_timeout(1000)
            keep(page, "explorer-two")
    finally:
        server.terminate()


def terminal() -> None:
    """What a command really prints, as an SVG without fonts of other hosts."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.text import Text

    plain = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    plain = plain.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace")
    for name, command, columns in SESSIONS:
        said = typed([*NLGAUGE, *shlex.split(command)[1:]], columns)
        console = Console(record=True, width=columns, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
        console.print(f"[bold green]$[/] {command}", highlight=False)
        console.print(Text.from_ansi(said.rstrip()))
        SCREENS.mkdir(parents=True, exist_ok=True)
        path = SCREENS / f"{name}.svg"
        path.write_text(console.export_svg(title="nlgauge", code_format=plain), encoding="utf-8")
        print(path.name, path.stat().st_size // 1000, "kB")


def typed(command: list[str], columns: int) -> str:
    """What a command prints on a terminal of that width; a pipe would get another layout."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, columns, 0, 0))
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    process = subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, env=env)
    os.close(theirs)
    parts = []
    with suppress(OSError):  # the other end is closed
        while part := os.read(ours, 65536):
            parts.append(part)
    os.close(ours)
    if process.wait():
        raise SystemExit(f"{shlex.join(command)}: failed")
    return b"".join(parts).decode().replace("\r\n", "\n")


def keep(page: Any, name: str) -> None:
    """As PNG with 256 colours where Pillow is there: a third of the size (the method keeps rare colours, such as those
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


PARTS = {"terminal": terminal, "explorer": explorer, "report": reports}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
