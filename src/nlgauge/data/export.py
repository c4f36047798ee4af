"""export(): write a Dataset to a tidy file (complete), or to one wide table for other programs."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.declared import Declared
from nlgauge.data.load import read_data
from nlgauge.data.tables.wide import write_wide
from nlgauge.data.tidy import write_tidy
from nlgauge.data.units import unit_by_input
from nlgauge.digests import digest
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.foreign_text import is_formula
from nlgauge.looks import begin_log

SUFFIXES = (".jsonl", ".jsonl.gz", ".csv", ".parquet")


def check_suffix(out: str | Path | None) -> None:
    """Refuse an unsupported file format before the computation."""
    if out is not None and not Path(out).name.lower().endswith(SUFFIXES):
        raise NlgaugeError(f"-o {out}: cannot write '{Path(out).suffix}'; use {', '.join(SUFFIXES)}.")


def export(data: Dataset, path: str | Path) -> list[str]:
    """Write the data in the format of the suffix; .jsonl is complete.

    Parameters
    ----------
    data : Dataset
    path : path
        .jsonl, .jsonl.gz, .csv or .parquet.

    Returns
    -------
    list of str
        What was written, and what the table omits.

    Examples
    --------
    >>> import nlgauge as ng, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = export(ng.example(), pathlib.Path(folder) / "all.jsonl")
    >>> len(lines), lines[0].startswith("written: ")
    (1, True)
    """
    path = Path(path)
    check_suffix(path)
    if path.suffix.lower() not in (".csv", ".parquet"):
        write_tidy(data, path)
        return [f"written: {path}"]
    omitted = write_wide(data, path)
    lines = [f"written: {path}", *(f"the table omits {what}; .jsonl omits nothing" for what in omitted)]
    if path.suffix.lower() == ".csv" and (count := formula_cells(data)):
        lines.append(
            f"{count:,} cells begin with =, +, - or @; a spreadsheet may run them as formulas. Import their columns as "
            "text, or write .jsonl"
        )
    return lines


def formula_cells(data: Dataset) -> int:
    """Return how many texts of the samples a spreadsheet may read as formulas."""
    count = 0
    for series in data.samples.iter_columns():
        texts = series.explode() if series.dtype == pl.List(pl.String) else series
        if texts.dtype == pl.String:
            count += sum(map(is_formula, texts.filter(texts.str.contains(r"^[=+\-@\t\r]"))))
    return count


def differences(data: Dataset, path: str | Path) -> list[str]:
    """Return how a written table would be read back differently, since column names can be misleading."""
    if Path(path).suffix.lower() not in (".csv", ".parquet"):
        return []
    back = read_data(path, Declared(reader="table"))
    lines = []
    for what in ("systems", "inputs", "aspects", "metrics"):
        written, read = frozenset(getattr(data, what)), frozenset(getattr(back, what))
        if written != read:
            counts = f"{len(read)} for {len(written)}, e.g. {', '.join(sorted(written ^ read)[:3])}"
            lines.append(f"reads back with other {what} ({counts}); use .jsonl to be safe")
    return lines


# --- tuning part and test part ---

TEST = 0.45  # share of the inputs


def split_data(
    data: Dataset, test: float = TEST, *, by: str | None = None, out: str | Path | None = None
) -> tuple[Dataset, Dataset]:
    """Split the data into a tuning part and a test part by input names; further rows do not move existing ones.

    Parameters
    ----------
    data : Dataset
    test : float, default 0.45
        About this share of the inputs goes to the test part.
    by : str, optional
        Column of the unit that is not split, such as a conversation; by default the document or conversation, if the
        data have one.
    out : path, optional
        NAME.csv writes NAME.tune.csv and NAME.test.csv (or .jsonl, .parquet); from then on NAME.test.csv.looks.jsonl
        logs every use of the test part.

    Returns
    -------
    tuple of two Datasets
        The tuning part and the test part.

    Examples
    --------
    >>> import nlgauge as ng
    >>> tune, test = ng.example().split(0.45)
    >>> len(tune.inputs) + len(test.inputs), set(tune.inputs) & set(test.inputs)
    (24, set())
    """
    units = data
    if not 0 < test < 1:
        raise NlgaugeError(f"the share of the test part must be between 0 and 1; got {test:g}.")
    if by:
        units = units.clustered(by)
    inputs = units.inputs
    unit = unit_by_input(units)
    names = [unit[i] for i in inputs]
    held = {i for i, name in zip(inputs, names, strict=True) if _place(str(name)) < test}
    if not held or len(held) == len(inputs):
        raise NeedsMissing(f"{units.name}: too few inputs or clusters to split into two parts ({len(set(names)):,}).")
    inside = units.samples["input"].is_in(sorted(held))
    parts = tuple(
        units.where(units.samples.filter(mask).select(KEY), f"{units.name}: {word}")
        for mask, word in ((~inside, "tune"), (inside, "test"))
    )
    if out is not None:
        for part, path in zip(parts, part_paths(out), strict=True):
            export(part, path)
        begin_log(part_paths(out)[1])
    return parts[0], parts[1]


def _place(name: str) -> float:
    """Return a number between 0 and 1 that depends only on the name."""
    return int.from_bytes(digest(name), "big") / 2**48


def part_paths(out: str | Path) -> tuple[Path, Path]:
    """Return the files of the two parts."""
    path = Path(out)
    suffix = next((s for s in SUFFIXES if path.name.lower().endswith(s)), "")
    stem = path.name[: -len(suffix)] if suffix else path.stem
    tune, test = (path.with_name(f"{stem}.{word}{suffix or '.jsonl'}") for word in ("tune", "test"))
    return tune, test
