"""Scores of judges on SummEval in a small file format, to which anyone can add a judge.

    judge,setting,scale,sampling,system,input,aspect,value
    smollm2-135m,T=1_1_10,1-10,T=1 x10,M11,dm-test-8764fb95…,coherence,4.2

One row per score, .csv or .jsonl with these eight fields. `judge` and `setting` together name a scorer; `scale` is the
one in its prompt; `sampling` describes how a value was obtained (T=0, "T=1 x10" for the mean of ten replies, expected).
`system` and `input` are SummEval's ids: no texts. An empty value is an output without a score.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nlgauge import Dataset, NlgaugeError
from nlgauge.judges import Scale
from nlgauge.plugins import DataError

FIELDS = ("judge", "setting", "scale", "sampling", "system", "input", "aspect", "value")
SHIPPED = Path(__file__).with_name("scores")


@dataclass(frozen=True)
class Score:
    """One row; the value is None without a score."""

    judge: str
    setting: str
    scale: str
    sampling: str
    system: str
    input: str
    aspect: str
    value: float | None

    @property
    def scorer(self) -> str:
        """Return judge and setting, which together name a scorer."""
        return f"{self.judge} {self.setting}"


def shipped_files() -> list[Path]:
    """Return the files of scores that we computed."""
    return sorted(SHIPPED.glob("*.csv"))


def read_scores(paths: Iterable[str | Path]) -> list[Score]:
    """Read all rows of these files. Duplicates count once; two values for one output are an error."""
    results: dict[tuple[str, ...], tuple[Score, Path]] = {}
    for path in map(Path, paths):
        for line, row in _records(path):
            score = _checked(path, line, row)
            key = score.scorer, score.aspect, score.system, score.input
            other, where = results.setdefault(key, (score, path))
            if other.value != score.value or other.scale != score.scale:
                raise DataError(
                    f"{path}, line {line}: '{score.scorer}' has another value for {score.system}, {score.input}, "
                    f"{score.aspect} in {where}; give one of the two another setting."
                )
    return [score for score, _ in results.values()]


def _records(path: Path) -> list[tuple[int, dict[str, Any]]]:
    if path.suffix not in (".csv", ".jsonl"):
        raise NlgaugeError(f"{path}: scores of judges are a .csv or a .jsonl file with {', '.join(FIELDS)}.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}).") from None
    if path.suffix == ".csv":
        return list(enumerate(csv.DictReader(io.StringIO(text)), 2))
    results = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{path}, line {number}: not JSON ({error}).") from None
            if not isinstance(row, dict):
                raise DataError(f"{path}, line {number}: found {type(row).__name__}, expected an object.")
            results.append((number, row))
    return results


def _checked(path: Path, line: int, row: dict[str, Any]) -> Score:
    if missing := [name for name in FIELDS if name not in row]:
        raise DataError(
            f"{path}, line {line}: no field {', '.join(missing)}; found {', '.join(map(str, row))}. "
            f"Scores of judges have {', '.join(FIELDS)}."
        )
    texts = {name: str(row[name]).strip() if row[name] is not None else "" for name in FIELDS}
    if empty := [name for name in FIELDS[:-1] if not texts[name]]:
        raise DataError(f"{path}, line {line}: {', '.join(empty)} is empty.")
    value = None
    if texts["value"]:
        try:
            value = float(texts["value"])
        except ValueError:
            raise DataError(f"{path}, line {line}: value '{texts['value'][:40]}' is not a number.") from None
        if not math.isfinite(value) or value not in Scale.parse(texts["scale"]):
            raise DataError(f"{path}, line {line}: value {texts['value']} is outside the scale {texts['scale']}.")
    return Score(
        texts["judge"],
        texts["setting"],
        texts["scale"],
        texts["sampling"],
        texts["system"],
        texts["input"],
        texts["aspect"],
        value,
    )


def score_rows(
    data: Dataset, column: str, *, judge: str, setting: str, scale: str, sampling: str, aspect: str
) -> list[Score]:
    """Return the rows of a judge's column in a Dataset, as `nlgauge judge` writes."""
    values = data.only_metrics([column]).scores
    return [
        Score(judge, setting, scale, sampling, str(r["system"]), str(r["input"]), aspect, r[column])
        for r in values.iter_rows(named=True)
    ]


def write_scores(scores: Sequence[Score], path: str | Path) -> None:
    """Write a .csv file of these rows, in canonical order."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(FIELDS)
    for s in sorted(scores, key=lambda s: (s.judge, s.setting, s.aspect, s.input, s.system)):
        value = "" if s.value is None or math.isnan(s.value) else f"{s.value:.5g}"
        writer.writerow([s.judge, s.setting, s.scale, s.sampling, s.system, s.input, s.aspect, value])
    Path(path).write_text(out.getvalue(), encoding="utf-8", newline="")
