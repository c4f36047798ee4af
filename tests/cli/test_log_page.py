"""docs/howto/log.md, from a log without labels to an interval: what the page shows is what its commands print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from command import run_command

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "log.md"
WIDE = "120"


def run_page(page: str, folder: Path) -> list[tuple[str, str]]:
    """Each command of the page with what it printed, in an empty folder; files are those that the page names."""
    for code in re.findall(r"```python\n(# (\w+\.py)\n.*?)```", page, re.S):
        (folder / code[1]).write_text(code[0], encoding="utf-8")
    subprocess.run([sys.executable, "make_log.py"], cwd=folder, check=True)
    said = []
    for command in re.findall(r"^\$ (.+)$", page, re.M):
        program, *words = shlex.split(command)
        wide = {"COLUMNS": WIDE, "NO_COLOR": "1"}
        if program == "nlgauge":
            done = run_command(*words, cwd=folder, **wide)
            assert done.returncode == 0, done.stderr
        else:
            argv = [sys.executable if program == "python" else program, *words]
            done = subprocess.run(
                argv, cwd=folder, capture_output=True, text=True, check=True, env={**os.environ, **wide}
            )
        said.append((command, done.stdout))
    return said


def test_the_page_from_a_log_to_an_interval_shows_what_its_commands_print(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    blocks = [part for block in re.findall(r"```\n(\$ .*?)```", page, re.S) for part in block.split("$ ")[1:]]
    said = run_page(page, tmp_path)
    assert len(blocks) == len(said) == 10
    for block, (command, printed) in zip(blocks, said, strict=True):
        shown = block.splitlines()
        assert shown[0] == command
        there = [line.rstrip() for line in printed.splitlines()]
        assert [line for line in shown[1:] if line.rstrip() not in there and line != "…"] == [], command
    for picture in ("estimate.png", "labels_needed.png"):
        assert (tmp_path / picture).stat().st_size > 5000


def test_the_pages_numbers_in_words_are_those_of_its_tables() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for words in ("About 321 labels are needed with the judge, and 532 without it", "`v2` is better by 0.13 to 0.55"):
        assert words in page
    assert (
        "About 532 labels in 439 inputs without a judge." in page
        and "About 321 labels in 283 inputs with judge." in page
    )
    assert "-0.34 [-0.55, -0.13]" in page


def written_again(page: str, said: list[tuple[str, str]]) -> str:
    """The page with what its commands print now: from the first line of each part that it shows to the last."""
    for command, printed in said:
        there = [line.rstrip() for line in printed.splitlines()]
        start = page.index(f"$ {command}\n") + len(command) + 3
        old = re.match(r"(?:(?!\$ |```).*\n)*", page[start:])
        new = []
        for part in re.split(r"^…\n", old[0] if old else "", flags=re.M):
            if lines := part.splitlines():
                first, last = (" ".join(lines[k].split()[:2]) for k in (0, -1))
                ends = [" ".join(line.split()[:2]) for line in there]
                end = len(ends) - 1 - ends[::-1].index(last)
                new.append("\n".join(there[ends.index(first) : end + 1]) + "\n")
        cut = "…\n" if old and old[0].endswith("…\n") else ""
        page = page[:start] + "…\n".join(new) + cut + page[start + len(old[0] if old else "") :]
    return page


if __name__ == "__main__":  # after a change of what is printed; numbers in sentences and the pictures are done by hand
    with tempfile.TemporaryDirectory() as made:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(written_again(text, run_page(text, Path(made))), encoding="utf-8")
