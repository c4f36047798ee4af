"""Files from strangers run no code: a Python file is run only when the user types its name."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import nlgauge as ng
from command import run_command
from nlgauge import registry
from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.scoring import aggregate

OWN = '''
from dataclasses import dataclass
from pathlib import Path
import numpy as np
from nlgauge.metrics import Batch, Metric, Scores, metric

Path(__file__).with_name("RAN").touch()


@metric("handed-wit", family="own", needs=(), lower=True, year=2024, cite="")
class Wit(Metric):
    """Words."""

    def score(self, batch: Batch) -> Scores:
        return Scores(np.arange(len(batch)) / 10.0)

    def stats(self, batch: Batch) -> np.ndarray:
        return np.ones((len(batch), 1))

    def from_stats(self, sums: np.ndarray) -> np.ndarray:
        return sums[..., 0]
'''


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Path]:
    """A Python file with a metric; it leaves a mark when it is run."""
    file = tmp_path / "notes.py"
    file.write_text(OWN)
    yield file
    registry._found["metric"].pop("handed-wit", None)


def ran(own: Path) -> bool:
    return own.with_name("RAN").exists()


def rows(n: int = 12, **more: object) -> list[dict[str, object]]:
    return [{"system": "AB"[i % 2], "input": i // 2, "output": f"text {i}", "quality": i % 5, **more} for i in range(n)]


def nlgauge(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_command(*words, cwd=cwd, NLGAUGE_STORE=str(cwd / "store.sqlite"), NO_COLOR="1")


def test_a_column_that_is_called_like_a_python_file_runs_nothing(tmp_path: Path, own: Path) -> None:
    name = f"{own}@handed-wit"
    data = ng.load([{**row, name: float(i % 7)} for i, row in enumerate(rows(24))], metrics=[name], human=["quality"])
    assert aggregate(data).rows
    panel = data.panel()
    for analysis in registry.names("analysis"):
        if registry.get("analysis", analysis).takes == "panel":
            try:
                panel.analyze(analysis)
            except NlgaugeError:
                continue
    assert not ran(own)


def test_verbs_that_got_no_value_do_not_end_well(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        OWN.replace("np.arange(len(batch)) / 10.0", "np.full(len(batch), np.nan)").replace("handed-wit", "void")
    )
    pl.DataFrame(rows()).write_csv(tmp_path / "outputs.csv")
    for verb, more in (("score", []), ("score", ["--batch", "5"]), ("analyze robustness", ["--sample", "5"])):
        for metrics, code in (("mine.py@void", 2), ("mine.py@void,len", 3)):
            told = nlgauge(*verb.split(), "outputs.csv", "-m", metrics, *more, cwd=tmp_path)
            assert told.returncode == code, (verb, metrics, told.stderr)
            assert "void" in told.stderr.splitlines()[-1]


@pytest.mark.parametrize("kind", ["metric", "analysis", "reader"])
def test_only_a_typed_name_runs_a_file(own: Path, kind: str) -> None:
    with pytest.raises(NameUnknown, match="only if you name it yourself"):
        registry.get(kind, f"{own}@handed-wit")
    assert not ran(own)


def test_a_settings_file_cannot_name_a_python_file(tmp_path: Path, own: Path) -> None:
    pl.DataFrame(rows()).write_csv(tmp_path / "outputs.csv")
    (tmp_path / "set.json").write_text(json.dumps([f"{own}@handed-wit"]))
    words = ["analyze", "robustness", "outputs.csv", "--metrics", "@set.json"]
    told = nlgauge(*words, cwd=tmp_path)
    assert told.returncode == 2
    assert "type it" in told.stderr
    assert not ran(own)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import no_such_package_anywhere\n", "line 1: your file cannot be run (ModuleNotFoundError: No module named"),
        ("x = 1\nx.gone\n", "line 2: your file cannot be run (AttributeError"),
        ("def f(:\n", "line 1: your file cannot be run (SyntaxError"),
        ("import sys\nsys.exit(0)\n", "line 2: your file cannot be run (SystemExit"),
    ],
)
def test_a_fault_in_the_users_own_file_is_named_as_theirs(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "mine.py").write_text(text)
    pl.DataFrame(rows()).write_csv(tmp_path / "outputs.csv")
    told = nlgauge("score", "outputs.csv", "-m", "mine.py@wit", cwd=tmp_path)
    assert told.returncode == 2
    assert says in told.stderr
    assert "fault of nlgauge" not in told.stderr
    assert "Traceback" not in told.stderr


def test_an_error_while_the_users_own_code_runs_is_a_fault_of_their_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        OWN.replace("handed-wit", "crooked").replace('"""Words."""', "def __post_init__(self): 1 / 0")
    )
    pl.DataFrame(rows()).write_csv(tmp_path / "outputs.csv")
    told = nlgauge("score", "outputs.csv", "-m", "mine.py@crooked", cwd=tmp_path)
    assert told.returncode == 2
    assert "mine.py, line 12: a fault of your own file (ZeroDivisionError" in told.stderr.splitlines()[-1]
