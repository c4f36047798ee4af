"""load() and check() as `nlgauge` offers them: a published set by its name, else a file or frame."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ParamSpec

from nlgauge.data import check as files_check
from nlgauge.data import load as files
from nlgauge.data.dataset import Dataset
from nlgauge.datasets import entries, load_set
from nlgauge.errors import DataError, NlgaugeError, NoSuchFile
from nlgauge.looks import is_test_part, look
from nlgauge.registry import did_you_mean
from nlgauge.spec import parse_spec
from nlgauge.table import Table

P = ParamSpec("P")
# What `load` is told about the columns and values of a file; a published set knows its own.
OF_FILES = frozenset(inspect.signature(files.load).parameters)


def published(source: Any) -> tuple[str | None, dict[str, Any]]:
    """Name and options of a published set, as in wmt23-zh-en(domain='news'); none where a file is called so.

    >>> published("wmt23-zh-en(domain='news')"), published("scores.csv")
    (('wmt23-zh-en', {'domain': 'news'}), (None, {}))
    """
    if not isinstance(source, str) or "." in source.partition("(")[0] or "/" in source or "\0" in source:
        return None, {}
    try:
        name, options = parse_spec(source)
        is_file = Path(source).exists()
    except (NlgaugeError, OSError):
        return None, {}
    return (name, options) if name in {e.name for e in entries()} and not is_file else (None, {})


def _or_published_set(read: Callable[P, Dataset]) -> Callable[P, Dataset]:
    @functools.wraps(read)
    def load(*args: P.args, **kwargs: P.kwargs) -> Dataset:
        name, options = published(args[0] if args else None)
        if name is None:
            try:
                data = read(*args, **kwargs)
                return replace(data, notes=(look(args[0]), *data.notes)) if is_test_part(args[0]) else data  # type: ignore[arg-type]
            except NoSuchFile as error:
                hint = did_you_mean(str(args[0]), [e.name for e in entries()])
                raise NoSuchFile(
                    f"{str(error).removesuffix('.')}, nor a published set of that name.{hint} `nlgauge data "
                    "list` shows all."
                ) from None
        return _load_published(name, {**options, **kwargs})

    return load


def _load_published(set_name: str, options: dict[str, Any]) -> Dataset:
    if any(options.get(word) for word in (*files.ROLES, "human", "metrics", "ignore", "reader")):
        raise DataError(f"{set_name}: a published set knows its columns; name none.")
    name, people = options.pop("name", None), options.pop("people", None)
    lower, higher = options.pop("lower", ()), options.pop("higher", ())
    labels = options.pop("labels", None)
    own = {key: value for key, value in options.items() if key not in OF_FILES}
    data = load_set(set_name, **own)
    if labels is not None:
        data = files.labelled(data, files.LabelFile.of(labels, {}, values=options.get("values")))
    return files.finished(data, name, lower, higher, people, known=True)


load = _or_published_set(files.load)


def _with_options_of(read: Callable[P, Dataset]) -> Callable[[Callable[..., Table]], Callable[P, Table]]:
    """`check` takes what `load` takes: the same signature, for people and type checkers."""

    def typed(function: Callable[..., Table]) -> Callable[P, Table]:
        same = inspect.signature(read)
        function.__signature__ = same.replace(return_annotation="Table")  # type: ignore[attr-defined]
        function.__doc__ = files_check.check.__doc__
        return function

    return typed


@_with_options_of(load)
def check(data: Any, **options: Any) -> Table:
    name, _ = published(data)
    if name is None:
        return files_check.check(data, **options)
    return files_check.read_whole(options.get("name") or Path(data).name, name, load(data, **options))
