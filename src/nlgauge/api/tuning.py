"""A part of the data to tune a judge on, and a part to test it on once."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.api.questions import dataset
from nlgauge.data.dataset import KEY
from nlgauge.data.export import SUFFIXES, export
from nlgauge.data.units import unit_by_input
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.looks import begin_log, is_test_part, log_of

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

TEST = 0.45  # of the inputs


def split(
    data: Any, test: float = TEST, *, by: str | None = None, out: str | Path | None = None
) -> tuple[Dataset, Dataset]:
    """Part the data for tuning and for testing, by the names of the inputs: more rows never move those that are there.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
    test : float, default 0.45
        About this share of the inputs goes to the test part.
    by : str, optional
        Column whose value several inputs share (a conversation): they stay together. By default the document or
        conversation that the data name, if they do.
    out : path, optional
        NAME.csv writes NAME.tune.csv and NAME.test.csv (or .jsonl, .parquet), and from then on every look at the test
        part into NAME.test.csv.looks.jsonl.

    Returns
    -------
    tuple of two Datasets
        For tuning, and for testing.

    Examples
    --------
    >>> import nlgauge as ng
    >>> tune, test = ng.split(ng.example(), 0.45)
    >>> len(tune.inputs) + len(test.inputs), set(tune.inputs) & set(test.inputs)
    (24, set())
    """
    found = dataset(data)
    if not 0 < test < 1:
        raise NlgaugeError(f"the share of the test part must lie between 0 and 1; found {test:g}.")
    if by:
        found = found.clustered(by)
    inputs = found.inputs
    unit = unit_by_input(found)
    names = [unit[i] for i in inputs]
    held = {i for i, name in zip(inputs, names, strict=True) if _place(str(name)) < test}
    if not held or len(held) == len(inputs):
        raise NeedsMissing(f"{found.name}: {len(set(names)):,} inputs or clusters are too few to part.")
    inside = found.samples["input"].is_in(sorted(held))
    parts = tuple(
        found.where(found.samples.filter(mask).select(KEY), f"{found.name}: {word}")
        for mask, word in ((~inside, "tune"), (inside, "test"))
    )
    if out is not None:
        for part, path in zip(parts, part_paths(out), strict=True):
            export(part, path)
        begin_log(part_paths(out)[1])
    return parts[0], parts[1]


def _place(name: str) -> float:
    """Between 0 and 1, by the name alone."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=6).digest(), "big") / 2**48


def part_paths(out: str | Path) -> tuple[Path, Path]:
    """Files of the two parts."""
    path = Path(out)
    suffix = next((s for s in SUFFIXES if path.name.lower().endswith(s)), "")
    stem = path.name[: -len(suffix)] if suffix else path.stem
    tune, test = (path.with_name(f"{stem}.{word}{suffix or '.jsonl'}") for word in ("tune", "test"))
    return tune, test


def tuning_part(data: Dataset, path: str, test: float = TEST) -> tuple[Dataset, str]:
    """What prompts may be tried on, and how it was found: never the test part."""
    if is_test_part(path):
        raise NlgaugeError(f"{path} is a test part ({log_of(path).name}): prompts are tried on the tuning part.")
    name = Path(path).name
    if ".tune." in name and is_test_part(Path(path).with_name(name.replace(".tune.", ".test."))):
        return data, f"prompts are tried on all {len(data):,} outputs of this tuning part"
    tune, held = split(data, test)
    return tune, (
        f"prompts are tried on {len(tune):,} outputs; {len(held):,} are kept for the test and not shown to the model "
        f"(`nlgauge data split {path} --test {test:g}` writes both parts)"
    )
