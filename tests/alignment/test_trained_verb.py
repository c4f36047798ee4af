"""`nlgauge train aligner`: from a text file to a folder that ctc can use."""

from __future__ import annotations

from pathlib import Path

import pytest
from little_text import documents
from typer.testing import CliRunner

from nlgauge.cli import build
from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.models.encoder import Encoder

SMALL = ["--count", "40", "--steps", "40", "--checkpoints", "2"]


def text_file(folder: Path) -> Path:
    path = folder / "text.txt"
    path.write_text("\n".join(" ".join(d) for d in documents(12)) + "\n", encoding="utf-8")
    return path


def test_a_text_file_becomes_an_aligner_that_ctc_uses(minilm: Encoder, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    command = ["train", "aligner", "--task", "style", "--text", str(text_file(tmp_path)), "-o", str(out), *SMALL]
    done = CliRunner().invoke(build("train"), command)
    assert done.exit_code == 0, done.output
    assert "held out: accuracy" in done.output
    assert "auc" in done.output
    assert sorted(p.name for p in out.glob("step-*.json")) == ["step-00020.json", "step-00040.json"]
    batch = Batch.from_columns(["The work took six weeks."], ["The work took six weeks."], [None], [[]])
    assert 0 < metric_from_spec(f"ctc(align='D', weights='{out}')").score(batch).values[0] <= 1


def test_a_missing_file_and_an_unknown_task_are_one_clear_line(tmp_path: Path) -> None:
    text = str(text_file(tmp_path))
    for extra, said in (
        (["--text", str(tmp_path / "no.txt")], "cannot be read"),
        (["--text", text, "--task", "poetry"], "task must be one of .*; got 'poetry'"),
        (["--text", text, "--targets", "luck"], "targets must be one of .*; got 'luck'"),
    ):
        with pytest.raises(NlgaugeError, match=said):
            CliRunner().invoke(
                build("train"), ["train", "aligner", *extra, "-o", str(tmp_path / "o")], catch_exceptions=False
            )


def test_a_paraphraser_that_is_not_there_is_one_clear_line(tmp_path: Path, minilm: Encoder) -> None:
    command = [
        "train",
        "aligner",
        "--text",
        str(text_file(tmp_path)),
        "-o",
        str(tmp_path / "o"),
        "--paraphraser",
        "no/such-model",
    ]
    with pytest.raises(NlgaugeError, match="paraphraser='no/such-model': not in this machine's cache"):
        CliRunner().invoke(build("train"), command, catch_exceptions=False)
