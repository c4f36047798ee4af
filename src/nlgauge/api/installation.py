"""The installation: versions, extras, external programs, and folders."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nlgauge import __version__, registry
from nlgauge.datasets.catalog import entries, mirror_folder
from nlgauge.errors import NeedsMissing
from nlgauge.kernels import found
from nlgauge.models.torch_weights import ASKED, allowed
from nlgauge.scoring.store import store_path
from nlgauge.table import Row, Table
from nlgauge.text.wordnet import wordnet_folder

# Purpose of each extra, apart from the metrics that require it.
ADDS = {
    "sacrebleu": "the tokenizers intl, zh, ja-mecab and ko-mecab, and ter(normalize=True)",
    "pandas": "tables as pandas data frames",
    "wordnet": "WordNet 3.0 where the system has none (synonyms of meteor)",
    "readability": "spelling and syllable dictionaries",
    "grammar": "a grammar checker",
    "vectors": "static word vectors",
    "neural": "neural encoders, the alignment estimators",
    "onnx": "inference and question-answering models as ONNX files",
    "judges": "`nlgauge judge`: LLM judges over HTTP",
    "explore": "`nlgauge explore`: the local page",
    "figures": "figures as SVG, PNG and PDF",
    "excel": "reading Excel files",
    "docs": "building the docs site",
    "bench": "other libraries for comparison in the benchmarks",
    "ray": "scoring and resampling on a Ray cluster (engine 'ray')",
    "papers": "reproduction of the five papers (`nlgauge reproduce`), with their metrics and analyses",
    "llama": "language models in GGUF files, through llama.cpp",
    "boost": "the analysis 'predictability'",
}
GROUPS = ("all", "dev")  # of other extras, not listed
TOOLS = {  # command, Debian packages, what for
    "chromium": ("chromium", "pictures of reports, the browser tests"),
    "link-parser": ("link-grammar link-grammar-dictionaries-en", "the metric prs of nlgauge-papers"),
}
NEEDED = re.compile(r"^(?P<name>[\w.-]+)(?:\[(?P<extras>[^\]]*)\])?[^;]*(?:;(?P<when>.*))?$")
EXTRA = re.compile(r"extra\s*==\s*['\"]([\w-]+)['\"]")


def environment() -> Table:
    """Return the state of the installation: versions, extras and what each adds, external programs, and folders.

    >>> environment().rows[0]["what"]
    'nlgauge'
    """
    rows = [*itself(), *extras(), *tools(), *places()]
    lacking = sum(row["state"] != "ok" for row in rows)
    wrong = sum(row["state"] == "wrong" for row in rows)
    told = "Nothing is missing." if not lacking else f"{lacking - wrong} optional components are missing"
    notes = [told + (f"; {wrong} have errors." if wrong else "." if lacking else "")]
    return Table("nlgauge list environment", rows, notes=notes, kind="doctor")


def row(what: str, state: str, found: str, remark: str = "") -> Row:
    """Return one line of the listing."""
    return {"what": what, "state": state, "found": found, "remark": remark}


def itself() -> Iterator[Row]:
    """Yield the state of the package itself, of Python and of the required packages."""
    yield row("nlgauge", "ok", __version__)
    fine = sys.version_info >= (3, 11)
    yield row(
        "Python", "ok" if fine else "wrong", platform.python_version(), "" if fine else "3.11 or newer is required"
    )
    absent = [name for name, extra in requirements() if not extra and version(name) is None]
    remark = f"pip install {' '.join(absent)}" if absent else ""
    yield row(
        "required packages",
        "wrong" if absent else "ok",
        f"not installed: {', '.join(absent)}" if absent else "all installed",
        remark,
    )


def requirements() -> list[tuple[str, str]]:
    """Return each required package and its extra ('' if always required); extras of extras are resolved."""
    try:
        lines = importlib.metadata.requires("nlgauge") or []
    except importlib.metadata.PackageNotFoundError:  # run from a folder, not installed
        return []
    found = [match for line in lines if (match := NEEDED.match(line))]
    direct = [(m["name"], m["extras"] or "", (EXTRA.findall(m["when"] or "") or [""])[0]) for m in found]
    inner = {extra: [w.strip() for w in within.split(",")] for name, within, extra in direct if name == "nlgauge"}
    plain = [(name, extra) for name, _, extra in direct if name != "nlgauge"]
    return plain + [(n, outer) for outer, names in inner.items() for n, e in plain if e in names]


def version(package: str) -> str | None:
    """Return the installed version of a package, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def extras() -> Iterator[Row]:
    """Yield one row per extra: its installed packages, or what its installation would add."""
    wanted: dict[str, list[str]] = {name: [] for name in ADDS}
    for package, extra in requirements():
        if extra and extra not in GROUPS and package not in wanted.setdefault(extra, []):
            wanted[extra].append(package)
    metrics = metrics_by_extra()
    for extra, packages in wanted.items():
        absent = [p for p in packages if version(p) is None]
        adds = "; ".join(filter(None, [ADDS.get(extra, ""), few(metrics.get(extra, []))]))
        if packages and not absent:
            yield row(f"extra {extra}", "ok", ", ".join(f"{p} {version(p)}" for p in packages), adds)
        else:
            what = f"not installed: {', '.join(absent)}" if packages else "unknown to this installation"
            yield row(f"extra {extra}", "missing", what, f'pip install "nlgauge[{extra}]" adds {adds}')


def metrics_by_extra() -> dict[str, list[str]]:
    """Return the metrics that need each extra."""
    found: dict[str, list[str]] = {}
    for name in registry.names("metric"):
        facts: Any = registry.get("metric", name).facts
        found.setdefault(facts.extra, []).append(name)
    return found


def few(names: list[str], most: int = 6) -> str:
    """
    >>> few(["a", "b", "c"], 2)
    'metrics a, b and 1 more'
    """
    if not names:
        return ""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return f"metrics {', '.join(names[:most])}{rest}"


def tools() -> Iterator[Row]:
    """Yield which external programs are installed."""
    for name, (package, use) in TOOLS.items():
        there = shutil.which(name)
        yield row(
            name,
            "ok" if there else "missing",
            "found" if there else "command not found",
            use if there else f"apt install {package}: {use}",
        )

    try:
        yield row("WordNet", "ok", str(wordnet_folder()), "synonyms of meteor")
    except NeedsMissing:
        yield row("WordNet", "missing", "not found", "apt install wordnet-base: synonyms of meteor")


def places() -> Iterator[Row]:
    """Yield the folders and files that the package uses."""
    store = store_path()
    size = f", {store.stat().st_size / 1e6:.1f} MB" if store.is_file() else ", not created yet"
    fine = may_write(store.parent) and (not store.exists() or os.access(store, os.W_OK))
    yield row(
        "score store",
        "ok" if fine else "wrong",
        f"{store}{size}",
        "" if fine else "cannot be written; set NLGAUGE_STORE",
    )
    yield kernels()

    if allowed():  # else safetensors only, and nothing to tell
        yield row("pickled weights", "ok", f"read, tensors only ({ASKED}=1)", "SECURITY.md says what that means")
    folder = mirror_folder()
    here = sum(e.here(folder) == "yes" for e in entries())
    word = "ok" if here else "missing"
    yield row(
        "published data",
        word,
        f"{folder}, {here} of {len(entries())} sets",
        "" if here else "`nlgauge data list` lists the available sets",
    )


def kernels() -> Row:
    """Return whether the kernels are compiled; without a C compiler at build time they run as Python."""
    if folder := found():
        return row("compiled kernels", "ok", folder)
    return row(
        "compiled kernels",
        "missing",
        "run as Python, tens to hundreds of times slower",
        "install a C compiler (apt install gcc), then pip install --force-reinstall --no-binary nlgauge nlgauge; "
        "in a clone: python setup.py build_ext --inplace",
    )


def may_write(folder: Path) -> bool:
    """Return whether files can be written in a folder, or where the folder would be created."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
