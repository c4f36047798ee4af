"""Run the commands and the Python of the executed pages, and write what they print below them.

`python docs/execute.py [PAGE …]` writes the pages anew; `make docs` calls it and a test compares. In a page:

* a block ```` ```console ```` holds commands (`$ nlgauge …`), each followed by its output;
* a block ```` ```python ```` followed by a block ```` ```text ```` is run, and the text is what it prints;
* `<!-- show stdout -->` above a block leaves out the remarks on stderr, `<!-- show 1-4,9 -->` (or `stdout,1-4,9`, `last-6`) keeps
  those lines of the output, and `…` stands for the others;
* `<!-- needs bertscore -->` above a block names a metric without whose weights the block stays as it is.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parent.parent
PAGES = [
    REPO / "README.md",
    REPO / "docs" / "delegate.md",
    REPO / "docs" / "classes.md",
    *sorted((REPO / "docs" / "tutorials").glob("*.md")),
]
WIDTH = {"COLUMNS": "100", "NO_COLOR": "1"}
BLOCK = re.compile(
    r"(?:<!-- needs (?P<needs>\S+) -->\n)?(?:<!-- show (?P<show>\S+) -->\n)?"
    r"```(?P<kind>console|python)\n(?P<body>.*?)^```\n(?:\n```text\n(?P<text>.*?)^```\n)?",
    re.M | re.S,
)
Runner = Callable[[list[str]], tuple[str, str]]


def by_process(words: list[str]) -> tuple[str, str]:
    """Return what a command writes to stderr and to stdout."""
    ended = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, env={**os.environ, **WIDTH}, check=False
    )
    return ended.stderr, ended.stdout


def executed(text: str, run: Runner = by_process, present: Callable[[str], bool] | None = None) -> str:
    """Return the page with the output of its blocks as it is now."""
    names: dict[str, Any] = {}
    with _examples():
        return BLOCK.sub(lambda block: _block(block, names, run, present or _present), text)


def _block(block: re.Match[str], names: dict[str, Any], run: Runner, present: Callable[[str], bool]) -> str:
    if block["needs"] and not present(block["needs"]):
        print(f"not run, the weights of {block['needs']} are not here", file=sys.stderr)
        return block[0]
    head = block[0][: block.start("body") - block.start()]
    if block["kind"] == "console":
        commands = re.findall(r"^\$ (.*)\n", block["body"], re.M)
        return head + "".join(f"$ {c}\n{_shown(_run(c, run), block['show'])}" for c in commands) + "```\n"
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(block["body"], names)
    if block["text"] is None:
        return block[0]
    return f"{head}{block['body']}```\n\n```text\n{_shown(('', printed.getvalue()), block['show'])}```\n"


def _run(command: str, run: Runner) -> tuple[str, str]:
    words = shlex.split(command)
    if words[0] == "nlgauge":
        return run(words)
    return "", subprocess.run(words, capture_output=True, text=True, check=True).stdout


def _shown(output: tuple[str, str], show: str | None) -> str:
    parts = (show or "").split(",")
    text = output[1] if "stdout" in parts else "".join(output)
    lines = [line.rstrip() for line in text.rstrip().splitlines()]
    ranges = [part for part in parts if part not in ("", "stdout")]
    if ranges:
        kept: set[int] = set()
        for part in ranges:
            first, _, last = part.partition("-")
            if first == "last":
                kept |= {*range(len(lines) - int(last) + 1, len(lines) + 1)}
                continue
            kept |= {*range(int(first), int(last or first) + 1)}
        lines = [line if k in kept else "…" for k, line in enumerate(lines, 1)]
        lines = [line for k, line in enumerate(lines) if line != "…" or k == 0 or lines[k - 1] != "…"]
    return "".join(f"{line}\n" for line in lines)


def _present(metric: str) -> bool:
    """Whether a metric scores a text here: its package and its weights are installed."""
    import nlgauge as ng

    try:
        ng.score(["a"], [metric], ref=["a"], src=["a"])
    except ng.NlgaugeError:
        return False
    return True


@contextlib.contextmanager
def _examples() -> Iterator[None]:
    """Work in a copy of examples/, with a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for file in (REPO / "examples").iterdir():
            if file.is_file():
                shutil.copy(file, folder)
        before = os.environ.get("NLGAUGE_STORE")
        os.environ["NLGAUGE_STORE"] = str(Path(folder, "store", "scores.sqlite"))
        try:
            with contextlib.chdir(folder):
                yield
        finally:
            os.environ.pop("NLGAUGE_STORE")
            if before is not None:
                os.environ["NLGAUGE_STORE"] = before


def update(pages: list[Path] | None = None) -> list[str]:
    """Write the pages anew and return the names of those that changed."""
    changed = []
    for page in pages or PAGES:
        before = page.read_text(encoding="utf-8")
        after = executed(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            changed.append(page.name)
    return changed


if __name__ == "__main__":
    print("\n".join(update([Path(name).resolve() for name in sys.argv[1:]] or None)) or "nothing changed")
