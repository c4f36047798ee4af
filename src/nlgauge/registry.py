"""One registry for readers, metrics, analyses and studies.

Each kind lives in its own folder, one or a few things a file, and registers itself with `@register(kind, name)`.
There is no list to keep: the first look-up of a kind imports every module of its folder (they are light, heavy imports
stay inside functions), then installed plugins (entry points `nlgauge.<kind>`). `path/to/file.py@name` names a thing in
a user's own file.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

from nlgauge.errors import NameUnknown

FOLDERS = {
    "reader": "nlgauge.data.readers",
    "metric": "nlgauge.metrics",
    "analysis": "nlgauge.analyses",
    "study": "nlgauge.studies",
}
PLURALS = {"reader": "readers", "metric": "metrics", "analysis": "analyses", "study": "studies"}

T = TypeVar("T")
_found: dict[str, dict[str, Any]] = {kind: {} for kind in FOLDERS}
_complete: set[str] = set()


def register(kind: str, name: str) -> Callable[[T], T]:
    """Decorator: make a function or class known under `name`."""

    def keep(thing: T) -> T:
        known = _found[kind].setdefault(name, thing)
        if known is not thing and getattr(known, "__qualname__", 0) != getattr(thing, "__qualname__", 1):
            raise ValueError(f"two things are called {kind} '{name}': {known!r} and {thing!r}")
        _found[kind][name] = thing
        return thing

    return keep


def names(kind: str) -> list[str]:
    """All known names of a kind, sorted."""
    _import_folder(kind)
    return sorted(_found[kind])


def get(kind: str, name: str) -> Any:
    """The thing of that kind and name; an unknown name answers with the nearest ones."""
    if ".py@" in name:
        path, _, inner = name.rpartition("@")
        _import_file(Path(path))
        name = inner
    if name not in _found[kind]:
        _import_folder(kind)
    try:
        return _found[kind][name]
    except KeyError:
        raise NameUnknown(
            f"no {kind} '{name}'.{did_you_mean(name, _found[kind])} "
            f"`nlgauge list {PLURALS[kind]}` shows all {len(_found[kind])}."
        ) from None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """' Did you mean …?' with the nearest known names, or nothing.

    >>> did_you_mean("bertscor", ["bleu", "bertscore"])
    " Did you mean 'bertscore'?"
    """
    lower = {k.lower(): k for k in known}
    close = difflib.get_close_matches(str(name).lower(), list(lower), n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(lower[c]) for c in close)}?" if close else ""


def _import_folder(kind: str) -> None:
    if kind in _complete:
        return
    package = importlib.import_module(FOLDERS[kind])
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    for entry in entry_points(group=f"nlgauge.{PLURALS[kind]}"):
        _found[kind].setdefault(entry.name, entry.load())
    _complete.add(kind)


def _import_file(path: Path) -> None:
    try:
        there = path.is_file()
    except (OSError, ValueError):  # too long for a file name
        there = False
    spec = importlib.util.spec_from_file_location(f"nlgauge_user_{path.stem}", path) if there else None
    if spec is None or spec.loader is None:
        raise NameUnknown(f"{path}: no such Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass with annotations as strings looks itself up there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
