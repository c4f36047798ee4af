"""load() and check() as `nlgauge` offers them: a file or frame, else the published set of this name."""

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
from nlgauge.data.declared import Declared
from nlgauge.datasets.catalog import entries, load_set
from nlgauge.errors import DataError, NlgaugeError, NoSuchFile
from nlgauge.looks import is_test_part, look
from nlgauge.options import ROLES
from nlgauge.registry import did_you_mean
from nlgauge.spec import parse_spec
from nlgauge.table import Table

P = ParamSpec("P")
# Options of `load` that apply to all data sets; the columns and values of a published set are fixed.
OF_ALL = ("lower", "higher", "human_systems", "values")


def published(source: Any) -> tuple[str | None, dict[str, Any]]:
    """Name and options of a published set, as in wmt23-zh-en(domain='news').

    >>> published("wmt23-zh-en(domain='news')"), published("scores.csv")
    (('wmt23-zh-en', {'domain': 'news'}), (None, {}))
    """
    if not isinstance(source, str) or "." in source.partition("(")[0] or "/" in source or "\0" in source:
        return None, {}
    try:
        name, options = parse_spec(source)
    except NlgaugeError:
        return None, {}
    return (name, options) if name in {e.name for e in entries()} else (None, {})


def _or_published_set(read: Callable[P, Dataset]) -> Callable[P, Dataset]:
    """Ask the catalog for what is not a file."""

    @functools.wraps(read)
    def load(*args: P.args, **kwargs: P.kwargs) -> Dataset:
        try:
            data = read(*args, **kwargs)
        except NoSuchFile as error:
            if Path(args[0]).exists():  # type: ignore[arg-type]
                raise  # the file of labels does not
            name, options = published(args[0])
            if name is not None:
                return _load_published(name, {**options, **kwargs})
            hint = did_you_mean(str(args[0]), [e.name for e in entries()])
            raise NoSuchFile(
                f"{str(error).removesuffix('.')}, nor a published set of that name.{hint} `nlgauge data list` shows "
                "all."
            ) from None
        return replace(data, notes=(look(args[0]), *data.notes)) if is_test_part(args[0]) else data  # type: ignore[arg-type]

    return load


def _load_published(set_name: str, options: dict[str, Any]) -> Dataset:
    """Load a published data set; only options that apply to all data sets are allowed."""
    if any(options.get(word) for word in ("columns", *ROLES) if word not in ("repeats", *OF_ALL)):
        raise DataError(f"{set_name}: the columns of a published set are known; do not declare columns.")
    name, labels = options.pop("name", None), options.pop("labels", None)
    declared = Declared.of(None, {word: options.pop(word) for word in OF_ALL if word in options}, None)
    own = {key: value for key, value in options.items() if key not in ROLES and key != "columns"}
    data = load_set(set_name, **own)
    if labels is not None:
        data = files.join_labels(data, files.LabelFile.of(labels, Declared(values=declared.values)))
    return files.finish_whole(data, declared, name, directed=True)


load = _or_published_set(files.load)


def _with_options_of(read: Callable[P, Dataset]) -> Callable[[Callable[..., Table]], Callable[P, Table]]:
    """Give `check` the same signature as `load`, for readers and type checkers."""

    def typed(function: Callable[..., Table]) -> Callable[P, Table]:
        same = inspect.signature(read)
        function.__signature__ = same.replace(return_annotation="Table")  # type: ignore[attr-defined]
        function.__doc__ = files_check.check.__doc__
        return function

    return typed


@_with_options_of(load)
def check(data: Any, **options: Any) -> Table:
    """Show how each column of a file, or of a published set, is read."""
    try:
        return files_check.check(data, **options)
    except NoSuchFile:
        name, _ = published(data)
        if name is None:
            raise
        return files_check.read_whole(options.get("name") or Path(data).name, name, load(data, **options))
