"""export(): a Dataset as a file, tidy (keeps all) or as one wide table for other programs."""

from __future__ import annotations

from pathlib import Path

from nlgauge.data.dataset import Dataset
from nlgauge.errors import NlgaugeError

SUFFIXES = (".jsonl", ".jsonl.gz", ".csv", ".parquet")


def check_suffix(out: str | Path | None) -> None:
    """Refuse a file that could not be written: before an hour of work, not after it."""
    if out is not None and not Path(out).name.lower().endswith(SUFFIXES):
        raise NlgaugeError(f"-o {out}: cannot write '{Path(out).suffix}'; use {', '.join(SUFFIXES)}.")


def export(data: Dataset, path: str | Path) -> list[str]:
    """Write the data in the format of the suffix; .jsonl loses nothing.

    Parameters
    ----------
    data : Dataset
    path : path
        .jsonl, .jsonl.gz, .csv or .parquet.

    Returns
    -------
    list of str
        What was written, and what the table does not hold.

    Examples
    --------
    >>> import nlgauge as ng, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = ng.export(ng.example(), pathlib.Path(folder) / "all.jsonl")
    >>> len(lines), lines[0].startswith("written: ")
    (1, True)
    """
    from nlgauge.data.tables.wide import write_wide
    from nlgauge.data.tidy import write_tidy

    path = Path(path)
    check_suffix(path)
    if path.suffix.lower() not in (".csv", ".parquet"):
        write_tidy(data, path)
        return [f"written: {path}"]
    lost = write_wide(data, path)
    return [f"written: {path}", *(f"the table does not hold {what}; .jsonl does" for what in lost)]


def differences(data: Dataset, path: str | Path) -> list[str]:
    """What a written table would be read back as, where that differs: names can mislead a table's reader."""
    from nlgauge.data.load import load

    if Path(path).suffix.lower() not in (".csv", ".parquet"):
        return []
    back = load(path, reader="table")
    found = []
    for what in ("systems", "inputs", "aspects", "metrics"):
        ours, theirs = frozenset(getattr(data, what)), frozenset(getattr(back, what))
        if ours != theirs:
            counts = f"{len(theirs)} for {len(ours)}, e.g. {', '.join(sorted(ours ^ theirs)[:3])}"
            found.append(f"reads back with other {what} ({counts}); use .jsonl to be safe")
    return found
