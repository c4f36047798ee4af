"""Labels given in the explorer: a CSV file to which every label is added as a row.

Several explorers, and an editor, may have the file open: it is read again, under a lock, before each row is added, and
nothing that stands in it is written anew. The last row for an output and annotator holds (`current_labels`).
"""

from __future__ import annotations

import csv
import datetime
import io
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from nlgauge.data.files import check_regular
from nlgauge.data.labels import LOG_COLUMNS
from nlgauge.errors import DataError, NameUnknown
from nlgauge.options import option
from nlgauge.scoring.file_locks import locked
from nlgauge.writing import unwritable, write_whole

WITHOUT_ANNOTATORS = LOG_COLUMNS[:3]  # the columns of a file of one person
WORDS = {"1": "1", "2": "2", "3": "3", "4": "4", "5": "5", "p": "pass", "f": "fail"}  # key -> label
Row = tuple[str, str, str, str]  # system, input, label, annotator


@dataclass
class GivenLabels:
    """Labels in a file, to which one annotator adds labels; `nlgauge … --labels FILE` reads those of all annotators.

    Attributes
    ----------
    path : Path
        A CSV file; one that is there already goes on.
    annotator : str, default ''
        Who gives the labels; '' for one person without a name.
    """

    path: Path
    annotator: str = ""
    _given: dict[tuple[str, str], str] = field(default_factory=dict, repr=False)  # the labels that this object wrote
    _count: Counter[tuple[str, str]] = field(default_factory=Counter, repr=False)  # this annotator's rows, last seen

    def __post_init__(self) -> None:
        if self.annotator != self.annotator.strip() or (self.annotator and not self.annotator.isprintable()):
            raise NameUnknown(f"annotator {self.annotator!r}: expected a name in one line.")
        check_regular(self.path)
        self.labels()

    def labels(self) -> dict[tuple[str, str], str]:
        """Return this annotator's labels by system and input, as the file holds them now."""
        rows = _rows(self.path, self.path.read_bytes()) if self.path.exists() else []
        if self._lost(rows):
            with _opened(self.path) as file:
                rows = self._restored(file)
        return self._own(rows)

    def put(self, system: str, input: str, label: str) -> dict[tuple[str, str], str]:
        """Add a label, or with '' take it back, and return all; passes and points do not mix in one file."""
        if label and label not in WORDS.values():
            raise NameUnknown(f"no label '{label}'; use {', '.join(WORDS.values())}.")
        with _opened(self.path) as file:
            rows = self._restored(file)
            latest = {(row[0], row[1], row[3]): row[2] for row in rows}
            latest.pop((system, input, self.annotator), None)
            kinds = {given.isdigit() for given in latest.values() if given}
            if label and kinds and label.isdigit() not in kinds:
                given = "points (1 to 5)" if True in kinds else "pass and fail"
                raise DataError(
                    f"{self.path.name} holds {given}; start another file with {option('label_file')} for the other "
                    "kind."
                )
            rows += self._append(file, {(system, input): label})
        return self._own(rows)

    def _own(self, rows: list[Row]) -> dict[tuple[str, str], str]:
        latest = {(system, input): label for system, input, label, annotator in rows if annotator == self.annotator}
        return {key: label for key, label in latest.items() if label}

    def _lost(self, rows: list[Row]) -> dict[tuple[str, str], str]:
        """Return what this object wrote and somebody's older copy of the file has overwritten."""
        present = Counter((system, input) for system, input, _, annotator in rows if annotator == self.annotator)
        return {key: label for key, label in self._given.items() if present[key] < self._count[key]}

    def _restored(self, file: IO[bytes]) -> list[Row]:
        """Read the file, and add again what was lost."""
        file.seek(0)
        rows = _rows(self.path, file.read())
        rows += self._append(file, self._lost(rows))
        self._count = Counter((system, input) for system, input, _, annotator in rows if annotator == self.annotator)
        return rows

    def _append(self, file: IO[bytes], labels: dict[tuple[str, str], str]) -> list[Row]:
        if not labels:
            return []
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        rows = [(*key, label, self.annotator) for key, label in labels.items()]
        file.seek(0)
        before = file.read()
        out = io.StringIO()
        if not before:
            csv.writer(out, lineterminator="\n").writerow(LOG_COLUMNS)
        elif not before.endswith(b"\n"):  # an editor left it out, or a crash
            out.write("\n")
        csv.writer(out, lineterminator="\n").writerows([*row, now] for row in rows)
        file.write(out.getvalue().encode())
        file.flush()
        os.fsync(file.fileno())
        self._given |= labels
        self._count.update(labels.keys())
        return rows


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Yield the label file, locked; a file of a single annotator is given the missing last columns first."""
    try:
        while True:
            with locked(path) as file:
                file.seek(0)
                content = file.read()
                if tuple(next(iter(_lines(path, content)), LOG_COLUMNS)) != WITHOUT_ANNOTATORS:
                    yield file
                    return
                out = io.StringIO()
                old = [row for row in _lines(path, content)[1:] if row]
                csv.writer(out, lineterminator="\n").writerows([LOG_COLUMNS, *([*row, "", ""] for row in old)])
                write_whole(path, out.getvalue())  # under a new inode, so that whoever waits opens it again
    except OSError as error:
        raise unwritable(path, error) from None


def _lines(path: Path, content: bytes) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read as a file of labels ({error}).") from None


def _rows(path: Path, content: bytes) -> list[Row]:
    """Return the rows of a file of labels, oldest first; cells that a line lacks are empty."""
    lines = _lines(path, content)
    columns = tuple(lines[0]) if lines else LOG_COLUMNS
    if columns not in (LOG_COLUMNS, WITHOUT_ANNOTATORS):
        raise DataError(
            f"{path}: its columns are {', '.join(columns) or 'none'}, not those of a label file "
            f"({', '.join(LOG_COLUMNS)}); name another with {option('label_file')}."
        )
    filled = [[*line, "", "", "", ""][:4] for line in lines[1:] if line]
    return [(system, input, label, annotator) for system, input, label, annotator in filled]
