"""Specs such as `bleu(order=2)`, which serve as command-line argument, column heading, cache key and repr."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
import threading
import types
import warnings
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.registry import did_you_mean

SPEC = re.compile(r"^\s*(?P<name>[^\s()]+)\s*(?:\((?P<options>.*)\))?\s*$", re.S)

# CPython 3.11 counts the depth of syntax trees globally: parsing in two threads may raise a SystemError.
_ONE_TREE = threading.Lock()


def syntax_tree(text: str) -> ast.expr:
    """Return the syntax tree of an expression without evaluating it; safe to call from several threads."""
    with _ONE_TREE, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of 2x: who asks says what is wrong
        return ast.parse(text, mode="eval").body


def parse_spec(text: str) -> tuple[str, dict[str, Any]]:
    """Name and options; the options are literals, nothing is ever evaluated.

    >>> parse_spec("rouge-l(stem=True, beta=1.2)")
    ('rouge-l', {'stem': True, 'beta': 1.2})
    """
    match = SPEC.match(text)
    if not match:
        raise NlgaugeError(f"'{text}' is not a spec; write name or name(option=value, …).")
    if not match["options"]:
        return match["name"], {}
    try:
        call = syntax_tree(f"f({match['options']})")
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        options = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
        if len(options) != len(call.keywords) or "inf" in _numbers(list(options.values())):
            raise ValueError  # 1e999 has no finite value
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NlgaugeError(
            f"'{text}': options must be name=value with plain values (numbers, 'text', True, False, None)."
        ) from None
    return match["name"], options


def _numbers(value: Any) -> str:
    """Return the floats inside a literal as text."""
    if isinstance(value, dict):
        return _numbers([*value, *value.values()])
    if isinstance(value, list | tuple | set):
        return " ".join(map(_numbers, value))
    return repr(value) if isinstance(value, float | complex) else ""


def format_spec(name: str, thing: Any) -> str:
    """Return the spec of a dataclass instance, with only the options that differ from their defaults."""
    said = []
    for field in dataclasses.fields(thing):
        value = getattr(thing, field.name)
        if field.default is dataclasses.MISSING or value != field.default:
            said.append(f"{field.name}={value!r}")
    return f"{name}({', '.join(said)})" if said else name


def make(cls: type[Any], name: str, options: dict[str, Any]) -> Any:
    """Return an instance of a dataclass from the options of a spec; an unknown option is an error that lists the
    options.
    """
    known = [f.name for f in dataclasses.fields(cls)]
    for option in options:
        if option not in known:
            those = f"options: {', '.join(known)}" if known else "it has no options"
            raise NameUnknown(
                f"{name}: no option '{option}'.{did_you_mean(option, known)} {those[0].upper()}{those[1:]}."
            )
    try:
        return cls(**options)
    except (TypeError, ValueError) as error:
        raise NlgaugeError(f"{name}: {error}") from None


@functools.cache
def allowed_words(thing: Any) -> dict[str, tuple[Any, ...]]:
    """Options of a function or a dataclass that take a few values only, as their annotation (Literal) says: option ->
    values, None among them where it is optional.
    """
    try:
        hints = get_type_hints(thing)
    except NameError:  # a name that is imported for type checkers alone
        return {}
    found = {}
    for name, hint in hints.items():
        parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        if all(get_origin(part) is Literal or part is type(None) for part in parts):
            found[name] = tuple(word for part in parts for word in (get_args(part) or (None,)))
    return found
