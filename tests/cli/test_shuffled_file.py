"""`nlgauge run` on a shuffled file says the same: every number of results.json but the order of its lists."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from nlgauge.cli import build


def rows_of() -> list[dict[str, Any]]:
    rng = np.random.default_rng(4)
    truth = rng.normal(size=(7, 1)) + rng.normal(size=(7, 15))
    return [
        {
            "system": f"s{i}",
            "input": f"i{j}",
            "rater": f"r{r}",
            "quality": int(np.clip(np.round(3 + truth[i, j] + rng.normal(0, 0.7)), 1, 5)),
            "m_good": round(truth[i, j] + np.sin(i * 31 + j), 4),
            "m_fair": round(truth[i, j] + 2 * np.sin(i * 17 + j * 3), 4),
            "m_error": round(-truth[i, j] + 4 * np.sin(i * 7 + j * 5), 4),
        }
        for i in range(7)
        for j in range(15)
        for r in range(2)
    ]


def results(folder: Path, rows: list[dict[str, Any]], columns: list[str]) -> Any:
    folder.mkdir()
    with (folder / "scores.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    words = [
        "run",
        str(folder / "scores.csv"),
        "--quick",
        "--columns",
        "human=quality,rater=rater,metrics=m_good+m_fair+m_error,lower=m_error",
    ]
    done = CliRunner().invoke(build(), [*words, "-o", str(folder / "out.html")])
    assert done.exit_code == 0, done.output
    return json.loads((folder / "out.results.json").read_text())


def in_one_order(value: Any) -> Any:
    """Lists as sets, and values by input beside the names of the inputs: only order is forgotten."""
    if isinstance(value, dict):
        if "inputs" in value and "values" in value:
            order = np.argsort(value["inputs"])
            value = {
                **value,
                "inputs": sorted(value["inputs"]),
                "values": {
                    a: {m: str([v[k] for k in order]) for m, v in by.items()} for a, by in value["values"].items()
                },
            }
        return {k: in_one_order(v) for k, v in sorted(value.items())}
    if isinstance(value, list):
        return sorted((in_one_order(v) for v in value), key=lambda v: json.dumps(v, sort_keys=True))
    return round(value, 10) + 0.0 if isinstance(value, float) else value


@pytest.mark.slow
def test_a_shuffled_file_gives_the_same_results(tmp_path: Path) -> None:
    rows = rows_of()
    plain = results(tmp_path / "plain", rows, list(rows[0]))
    order = np.random.default_rng(1).permutation(len(rows))
    mixed = results(tmp_path / "mixed", [rows[k] for k in order], list(reversed(rows[0])))
    for found in (plain, mixed):
        found.pop("date", None)
        found.pop("seconds", None)
    assert in_one_order(plain) == in_one_order(mixed)
