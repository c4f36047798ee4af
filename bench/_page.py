"""The page of benchmarks: each one in a process of its own, what it printed, and on what it ran."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
OURS = ("nlgauge", "numpy", "scipy", "polars", "torch", "transformers")
PEERS = (
    "sacrebleu", "rouge-score", "nltk", "pycocoevalcap", "bert-score", "nlpstats", "krippendorff", "pingouin",
    "torchmetrics",
    "statsmodels", "crowd-kit", "ray", "rouge-score-rs", "rouge-rust", "fastchrf", "bleuscore", "rapidfuzz", "evalica",
)  # fmt: skip
TOP = """# Benchmarks

Written by `python -m bench --write docs/benchmarks.md`; do not edit. Where another library is named it was measured in the
same run, so ratios say more than times: machines differ and are noisy. No test depends on a time.
"""


@dataclass(frozen=True)
class Ran:
    name: str
    about: str
    printed: str
    seconds: float
    code: int


def write(path: Path, names: list[str]) -> int:
    """Run the benchmarks, show what they print, and write the page; 1 when one of them failed.

    On a page that holds other benchmarks as well, only the sections of these are written again.
    """
    ran = [run(name) for name in names]
    path.parent.mkdir(parents=True, exist_ok=True)
    date = time.strftime("%Y-%m-%d", time.gmtime())
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if set(re.findall(r"^## (\S+)$", text, re.M)) - set(names):
        text = replaced(text, ran, f"On {date}; cores: {machine()['cores']}; {versions(PEERS)}.")
    else:
        text = page(ran, machine(), date)
    path.write_text(text, encoding="utf-8")
    print(f"written: {path}")
    return 1 if any(r.code for r in ran) else 0


def run(name: str) -> Ran:
    print(f"\n== {name} ==", flush=True)
    start = time.monotonic()
    lines = []
    with subprocess.Popen(
        [sys.executable, "-m", "bench", name],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=HERE.parent,
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    printed = "".join(lines).replace(f"\n== {name} ==\n", "")
    return Ran(name, about(name), without_places(printed), time.monotonic() - start, process.returncode)


def about(name: str) -> str:
    """The bench's docstring without its lines of commands."""
    text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8"))) or ""
    return (
        "\n".join(line for line in text.splitlines() if not line.startswith("    ")).replace("\n\n\n", "\n\n").strip()
    )


def without_places(text: str) -> str:
    """Folders of this machine are nobody's business: their last part is enough.

    >>> without_places("kept in /home/ann/x/scores.csv (1/2)")
    'kept in …/scores.csv (1/2)'
    """
    return re.sub(r"(?<![\w.:/])/(?:[\w.~-]+/)+([\w.~-]+)", r"…/\1", text)


def machine() -> dict[str, str]:
    """What a reader needs to judge the times, and nothing that names the machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found = {
        "processor": processor(),
        "cores": f"{cores}, load {os.getloadavg()[0]:.1f} at the end" if hasattr(os, "getloadavg") else str(cores),
        "memory": memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    }
    return {name: value for name, value in found.items() if value}


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (ValueError, OSError, AttributeError):
        return ""


def versions(names: tuple[str, ...]) -> str:
    found = []
    for name in names:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} (not installed)")
    return ", ".join(found)


def page(ran: list[Ran], on: dict[str, str], date: str) -> str:
    facts = {"date": date, **on, "versions": versions(OURS), "compared with": versions(PEERS)}
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    parts = [TOP, f"| | |\n| --- | --- |\n{rows}\n"]
    return "\n".join([*parts, *map(section, ran)])


def section(r: Ran, remark: str = "") -> str:
    end = f"{r.seconds:.0f} s in all." if not r.code else f"**Did not finish** (exit code {r.code})."
    end = f"{end} {remark}".strip()
    return f"## {r.name}\n\n{r.about}\n\n```text\n{r.printed.strip()}\n```\n\n{end}\n"


def replaced(text: str, ran: list[Ran], remark: str) -> str:
    """The page with the sections of these benchmarks written again, or added at its end."""
    for r in ran:
        old, new = re.compile(rf"^## {re.escape(r.name)}$.*?(?=^## |\Z)", re.M | re.S), section(r, remark) + "\n"
        text = old.sub(lambda _, new=new: new, text) if old.search(text) else f"{text.rstrip()}\n\n{new}"
    return f"{text.rstrip()}\n"
