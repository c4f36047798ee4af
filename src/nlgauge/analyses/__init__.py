"""Analyses: one question of the papers each, a pure function from Panel (or Dataset) to Table, one file."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, ParamSpec, get_args, get_origin, get_type_hints

from nlgauge.errors import NameUnknown
from nlgauge.registry import register
from nlgauge.stats.correlation.profiles import profile_of
from nlgauge.table import Table

P = ParamSpec("P")
Progress = Callable[[int, int], None]
Takes = Literal["panel", "dataset", "datasets"]


@dataclass(frozen=True)
class Analysis:
    """A question with its function. `takes` says what it needs: a panel (one aspect), the whole data set, or
    several.
    """

    name: str
    question: str
    paper: str
    takes: Takes
    function: Callable[..., Table]

    def __call__(self, data: Any, **options: Any) -> Table:
        return self.function(data, **options)


def analysis(
    name: str, *, question: str, paper: str = "", takes: Takes = "panel"
) -> Callable[[Callable[P, Table]], Callable[P, Table]]:
    """Register a function as an analysis; its Table says which one made it.

    A panel comes to it in canonical order, so that no draw depends on the order of the file or on names; only a profile
    that repeats another tool's random numbers gets the caller's order, because that tool had it.
    """

    def keep(function: Callable[P, Table]) -> Callable[P, Table]:
        @functools.wraps(function)
        def named(*args: P.args, **kwargs: P.kwargs) -> Table:
            _check_choices(function, kwargs)
            profile: Any = kwargs.get("profile", "nlgauge")
            if takes == "panel" and not profile_of(profile).legacy:
                args = (args[0].canonical(), *args[1:])  # type: ignore[attr-defined,assignment]
            args, kwargs, left = _only_families(takes, args, kwargs)  # type: ignore[assignment,arg-type]
            table = function(*args, **kwargs)
            table.kind = name
            if left:
                table.notes = [*table.notes, f"in no family that you named, left out: {', '.join(left)}."]
            return table

        register("analysis", name)(Analysis(name, question, paper, takes, named))
        return named

    return keep


def _check_choices(function: Callable[..., Table], options: Mapping[str, Any]) -> None:
    """An option whose type is a list of words (Literal) has one of them."""
    for name, words in _choices(function).items():
        if name in options and options[name] not in words:
            known = [str(word) for word in words if word is not None]
            use = " or ".join(filter(None, [", ".join(known[:-1]), known[-1]]))
            raise NameUnknown(f"no {name} '{options[name]}'; use {use}.")


@functools.cache
def _choices(function: Callable[..., Table]) -> dict[str, tuple[Any, ...]]:
    """Option -> the words it may have, None among them where it is optional."""
    found = {}
    for name, hint in get_type_hints(function).items():
        parts = [hint] if get_origin(hint) is Literal else list(get_args(hint))
        if parts and all(get_origin(part) is Literal or part is type(None) for part in parts):
            found[name] = tuple(w for part in parts for w in (get_args(part) or (None,)))
    return found


def _only_families(
    takes: Takes, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], list[str]]:
    """`families={name: [metrics]}` says which metrics take part: others would join a family by their names, or make
    their own.
    """
    given = options.get("families")
    if not isinstance(given, Mapping) or not any(not isinstance(v, str) for v in given.values()):
        return args, options, []
    said = {m for key, value in given.items() for m in ([key] if isinstance(value, str) else value)}
    if takes == "panel":
        panel = args[0]
        left = [m for m in panel.names if m not in said]
        kept = {m: v for m, v in panel.metrics.items() if m in said}
        args = (replace(panel, metrics=kept, lower=panel.lower & set(kept)), *args[1:])
        return args, options, left
    sets = args[0] if takes == "datasets" else [args[0]]
    asked = options.get("metrics") or list(dict.fromkeys(m for data in sets for m in data.metrics))
    left = [m for m in asked if m not in said]
    return args, options | {"metrics": [m for m in asked if m in said]}, left
