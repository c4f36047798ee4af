"""One registry for readers, metrics, analyses, figures and sections.

Each kind lives in its own folder, one or a few things a file, and registers itself with a decorator whose first words
name it: `@metric("bleu", …)`, `@register("reader", "tidy")`. There is no list to keep: names are read off the source
text of the folder, and a look-up imports the one module in which the name stands. Installed plugins are entry points
`nlgauge.<kind>`. `path/to/file.py@name` names a thing in a user's own file, which is run: only words that the user
typed may do that (`allow_code=True`), never a word from a file.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, TypeVar

from nlgauge.errors import NameUnknown, NlgaugeError

FOLDERS = {
    "reader": "nlgauge.data.readers",
    "metric": "nlgauge.metrics",
    "analysis": "nlgauge.analyses",
    "figure": "nlgauge.report.figures",
    "section": "nlgauge.report.sections",
}
PLURALS = {kind: f"{kind}s" for kind in FOLDERS} | {"analysis": "analyses"}

# Plugins of the distribution nlgauge-papers, so that an installation without it can say where a name comes from.
IN_PAPERS = {
    "metric": "hlepor lepor prs s3 sim".split(),
    "analysis": (
        "aspect-disagreement best-metric characteristics consensus consensus-distance ensemble joint-aspects "
        "quality-bins relative-ranking"
    ).split(),
}

USER = "nlgauge_user_"  # modules of users' own files
T = TypeVar("T")
# A decorator at the beginning of a line, and its leading string arguments.
NAMED = re.compile(r'^@\w+\(\s*((?:"[^"\n]*",?\s*)+)(?:only="([^"\n]*)")?', re.M)
_found: dict[str, dict[str, Any]] = {kind: {} for kind in FOLDERS}


def register(kind: str, name: str, *, only: str = "") -> Callable[[T], T]:
    """Make a function or class known by name.

    Parameters
    ----------
    kind : {'reader', 'metric', 'analysis', 'figure', 'section'}
    name : str
    only : str, optional
        Of a reader: the kinds of files it knows (`Peek.kind`).

    Returns
    -------
    callable
        The decorator.
    """

    def keep(thing: T) -> T:
        known = _found[kind].setdefault(name, thing)
        if _qualname(known) != _qualname(thing):
            raise ValueError(f"two things are called {kind} '{name}': {known!r} and {thing!r}")
        _found[kind][name] = thing
        return thing

    return keep


def _qualname(thing: Any) -> Any:
    """Return the qualified name, which stays the same when a user's file is run again."""
    return getattr(getattr(thing, "function", thing), "__qualname__", id(thing))


def names(kind: str, what: str | None = None) -> list[str]:
    """Return all names of a kind, sorted, without those registered for other uses (`only`); nothing is imported."""
    others = {name for name, (_, only) in _modules(kind).items() if what and only and what not in only.split()}
    return sorted({*_found[kind], *_modules(kind), *_plugins(kind)} - others)


def get(kind: str, name: str, *, allow_code: bool = False) -> Any:
    """Return the object of this kind and name; an unknown name is an error that suggests the nearest names.

    allow_code: `file.py@name` runs that file. Only where the user typed the name, on the command line or in Python.
    """
    if names_code(name):
        if not allow_code:
            raise NameUnknown(
                f"'{name}' names a Python file, which is executed only if you name it yourself, not if a file names it."
            )
        path, _, inner = name.rpartition("@")
        _import_file(Path(path))
        if inner not in _found[kind]:
            raise NameUnknown(f"{path}: has no {kind} '{inner}'.{did_you_mean(inner, _found[kind])}")
        name = inner
    if name not in _found[kind]:
        if name in _modules(kind):
            importlib.import_module(_modules(kind)[name][0])
        elif name in _plugins(kind):
            _load_plugin(kind, name)
    try:
        return _found[kind][name]
    except KeyError:
        raise unknown(kind, name) from None


def unknown(kind: str, name: str) -> NameUnknown:
    """Return the error for an unknown name: it says which package provides it, or suggests the nearest names."""
    if name in IN_PAPERS.get(kind, ()):
        problem = f"no {kind} '{name}'. It is part of nlgauge-papers: pip install \"nlgauge[papers]\""
        return NameUnknown(problem, code="unknown_name", problem=problem)
    known = names(kind)
    problem = f"no {kind} '{name}'.{did_you_mean(name, known)}"
    remedy = f"`nlgauge list {PLURALS[kind]}` shows all {len(known)}."
    return NameUnknown(f"{problem} {remedy}", code="unknown_name", problem=problem, remedy=remedy)


def names_code(name: str) -> bool:
    """Return whether a name refers to an object in a Python file.

    >>> names_code("my/metric.py@wit(n=2)"), names_code("bleu(order=2)")
    (True, False)
    """
    return ".py@" in name


def own_file(error: BaseException) -> str:
    """Return 'my.py, line 7' if an error came from a user's own file, otherwise an empty string."""
    found, step = "", error.__traceback__
    while step is not None:
        if str(step.tb_frame.f_globals.get("__name__", "")).startswith(USER):
            found = f"{step.tb_frame.f_code.co_filename}, line {step.tb_lineno}"
        step = step.tb_next
    return found


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ' Did you mean …?' with the nearest known names, or nothing.

    Parameters
    ----------
    name : str
    known : collection of str

    Returns
    -------
    str

    Examples
    --------
    >>> did_you_mean("bertscor", ["bleu", "bertscore"])
    " Did you mean 'bertscore'?"
    """
    lower = {k.lower(): k for k in known}
    close = difflib.get_close_matches(str(name).lower(), list(lower), n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(lower[c]) for c in close)}?" if close else ""


@functools.cache
def _modules(kind: str) -> dict[str, tuple[str, str]]:
    """Name -> the module that registers it and what for, from the source of the kind's folder; no private modules."""
    package = FOLDERS[kind]
    folder = Path(__file__).parent.joinpath(*package.split(".")[1:])
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if any(part.startswith("_") for part in parts):
            continue
        for match in NAMED.finditer(path.read_text(encoding="utf-8")):
            words = re.findall(r'"([^"]*)"', match[1])
            named = words[1:] if words[0] == kind else words
            found.update(dict.fromkeys(named, (".".join([package, *parts]), match[2] or "")))
    return found


@functools.cache
def _plugins(kind: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"nlgauge.{PLURALS[kind]}")}


def _load_plugin(kind: str, name: str) -> None:
    entry = _plugins(kind)[name]
    try:
        _found[kind].setdefault(name, entry.load())
    except Exception as error:
        raise NlgaugeError(
            f"plugin '{name}' ({entry.value}): cannot be loaded ({type(error).__name__}: {error}); "
            "mend it, or uninstall it."
        ) from error


def _import_file(path: Path) -> None:
    try:
        there = path.is_file()
    except (OSError, ValueError):  # too long for a file name
        there = False
    spec = importlib.util.spec_from_file_location(f"{USER}{path.stem}", path) if there else None
    if spec is None or spec.loader is None:
        raise NameUnknown(f"{path}: no such Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass with annotations as strings looks itself up there
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[spec.name]
        if isinstance(error, NlgaugeError) or not isinstance(error, Exception | SystemExit):
            raise
        where = f"{path}, line {error.lineno}" if isinstance(error, SyntaxError) else own_file(error) or path
        said = error.msg if isinstance(error, SyntaxError) else error
        raise NlgaugeError(f"{where}: your file cannot be run ({type(error).__name__}: {said}).") from error
