"""Files of an mt-metrics-eval v2 folder, for its reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nlgauge.data.files import decode
from nlgauge.data.records import Record, parse_object
from nlgauge.errors import DataError

LEVELS = ("sys", "domain", "doc", "seg")


class ScoreFile(NamedTuple):
    kind: str  # human or metric
    name: str
    level: str
    file: Path


def is_pair(path: Path) -> bool:
    """Return whether a path such as `wmt23/en-de` names a language pair although no such file exists."""
    return not path.exists() and (path.parent / "sources" / f"{path.name}.txt").is_file()


def locate(path: Path, lp: str | None) -> tuple[Path, str]:
    """Return the folder of the test set and the language pair."""
    if is_pair(path):
        return path.parent, path.name
    pairs = sorted(file.stem for file in (path / "sources").glob("*.txt"))
    if lp is None and len(pairs) == 1:
        return path, pairs[0]
    if not pairs:
        raise DataError(f"{path}: no sources/SRC-TGT.txt; expected an mt-metrics-eval folder.")
    if lp is None or lp not in pairs:
        problem = "has several language pairs" if lp is None else f"has no language pair '{lp}'"
        raise DataError(
            f"{path}: {problem}; choose with lp='…' or the path {path}/{pairs[0]}. Pairs: {', '.join(pairs)}."
        )
    return path, lp


def lines_of(file: Path, like: list[str] | None = None) -> list[str]:
    """Read the lines of a text file, and check that there are as many as in `like` if it is given."""
    # Not `read_bytes`, which refuses files of blank lines: outputs may be empty.
    if not file.is_file():
        raise DataError(f"{file}: no such file.")
    text = decode(file, file.read_bytes())
    lines = [line.rstrip() for line in text.removesuffix("\n").split("\n")]
    if like is not None and len(lines) != len(like):
        raise DataError(f"{file}: has {len(lines)} lines, the source has {len(like)}; lines must correspond.")
    return lines


def documents(folder: Path, lp: str) -> list[tuple[str, str]]:
    """Return (domain, document) of every segment; empty if unknown."""
    file = folder / "documents" / f"{lp}.docs"
    return [(words[0], words[1]) for _, words in split(file, 2)] if file.is_file() else []


def split(file: Path, fields: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the words of each line."""
    for number, line in enumerate(lines_of(file), 1):
        words = line.split()
        if len(words) != fields:
            raise DataError(f"{file}, line {number}: found {len(words)} fields, expected {fields}: '{line[:40]}'.")
        yield number, words


def score_of(file: Path, number: int, word: str) -> float | None:
    """Return a score as a number; None stays None."""
    try:
        value = None if word == "None" else float(word)
    except ValueError:
        raise DataError(f"{file}, line {number}: found '{word}', expected a number or None.") from None
    return value if value is None or abs(value) < float("inf") else None


def score_files(folder: Path, lp: str) -> Iterator[ScoreFile]:
    """Yield the files human-scores/LP.NAME.LEVEL.score and metric-scores/LP/NAME-REF.LEVEL.score."""
    people = sorted((folder / "human-scores").glob(f"{lp}.*.score"))
    metrics = sorted((folder / "metric-scores" / lp).glob("*.score"))
    for kind, files in (("human", people), ("metric", metrics)):
        for file in files:
            name, _, level = file.name.removeprefix(f"{lp}.").removesuffix(".score").rpartition(".")
            if level not in LEVELS:
                levels = ", ".join(LEVELS)
                raise DataError(
                    f"{file}: level '{level}' in the file's name; expected NAME.LEVEL.score, one of {levels}."
                )
            yield ScoreFile(kind, name, level, file)


def rating_files(folder: Path, lp: str) -> Iterator[tuple[str, Path]]:
    """Yield the files human-scores/LP.NAME.seg.rating, which contain the error spans of one or several annotators."""
    for file in sorted((folder / "human-scores").glob(f"{lp}.*.rating")):
        name, _, level = file.name.removeprefix(f"{lp}.").removesuffix(".rating").rpartition(".")
        if level != "seg":
            raise DataError(f"{file}: level '{level}' in the file's name; expected NAME.seg.rating.")
        yield name, file


def rating_lines(file: Path, name: str) -> Iterator[tuple[str, str, Record | None]]:
    """Yield system, annotator and rating of every line, in the order of the segments; the rating is None if the output
    was not rated.

    A line without an annotator belongs to the annotator in the name of the file.

    A line without a rater is by the one whose name the file has.
    """
    for number, line in enumerate(lines_of(file), 1):
        where, words = f"{file}, line {number}", line.strip().split("\t")
        if len(words) not in (2, 3):
            raise DataError(f"{where}: found {len(words)} fields, expected 2 or 3 between tabs: '{line[:40]}'.")
        rating = None if words[1] == "None" else Record(where, number, parse_object(where, words[1]))
        yield words[0], words[2] if len(words) == 3 else name, rating
