"""One test that checks many files or entries, and reports every failure in one message."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def for_each(
    things: Iterable[Any], name: Callable[[Any], object] = str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn a check of one thing into a test of all things.

    The first parameter of the check takes the thing, the others are fixtures. A thing that fails does not hide the
    next one. Use it for checks of files; cases that differ in behavior stay parametrized.
    """

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(check)
        def test(**fixtures: Any) -> None:
            listed = list(things)
            assert listed, "nothing to check"
            failures = [f"{name(thing)}: {message}" for thing in listed if (message := failure(check, thing, fixtures))]
            assert not failures, f"{len(failures)} of {len(listed)} failed\n" + "\n".join(failures)

        signature = inspect.signature(check)
        test.__signature__ = signature.replace(parameters=[*signature.parameters.values()][1:])  # type: ignore[attr-defined]
        return test

    return decorate


def failure(check: Callable[..., None], thing: Any, fixtures: dict[str, Any]) -> str:
    """What a check says about a thing, or nothing where it passes."""
    try:
        check(thing, **fixtures)
    except AssertionError as error:
        return str(error) or "assertion failed"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
