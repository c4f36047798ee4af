"""Labels that a person gives in the explorer: a CSV file of system, input and label, written whole after each one."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path

from nlgauge.errors import DataError, NameUnknown
from nlgauge.options import option
from nlgauge.writing import write_whole

COLUMNS = ["system", "input", "label"]
WORDS = {"1": "1", "2": "2", "3": "3", "4": "4", "5": "5", "p": "pass", "f": "fail"}  # key -> label


@dataclass
class GivenLabels:
    """Labels by (system, input); a file that is there already goes on. `nlgauge … --labels FILE` reads it."""

    path: Path
    labels: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            if list(rows.fieldnames or ()) != COLUMNS:
                raise DataError(
                    f"{self.path}: its columns are {', '.join(rows.fieldnames or ()) or 'none'}, not those of a label "
                    f"file ({', '.join(COLUMNS)}); name another with {option('label_file')}."
                )
            self.labels = {(row["system"], row["input"]): row["label"] for row in rows}

    def put(self, system: str, input: str, label: str) -> None:
        """Set a label, or with '' take it back; passes and points do not mix in one file."""
        if label and label not in WORDS.values():
            raise NameUnknown(f"no label '{label}'; use {', '.join(WORDS.values())}.")
        kinds = {given.isdigit() for key, given in self.labels.items() if key != (system, input)}
        if label and kinds and label.isdigit() not in kinds:
            given = "points (1 to 5)" if True in kinds else "pass and fail"
            raise DataError(
                f"{self.path.name} holds {given}; start another file with {option('label_file')} for the other kind."
            )
        labels = {key: value for key, value in self.labels.items() if key != (system, input)}
        if label:
            labels[system, input] = label
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([COLUMNS, *([*key, value] for key, value in labels.items())])
        write_whole(self.path, out.getvalue())
        self.labels = labels
