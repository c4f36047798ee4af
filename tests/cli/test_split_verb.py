"""`nlgauge data split`: parts that stay, clusters that stay together, and a log of looks at the test part."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import polars as pl
import pytest

import nlgauge as ng
from command import run_command
from nlgauge.errors import NeedsMissing, NlgaugeError


def table(path: Path, rows: int) -> Path:
    lines = ["id,chat,answer,judge,human", *(f"r{k},c{k // 4},text {k:04},{k % 3 % 2},{k % 2}" for k in range(rows))]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_more_rows_never_move_those_that_are_there(tmp_path: Path) -> None:
    few, many = (ng.load(table(tmp_path / f"{n}.csv", n)).split(0.45) for n in (80, 400))
    for before, after in zip(few, many, strict=True):
        assert set(before.inputs) <= set(after.inputs)
    assert 0.35 < len(many[1]) / 400 < 0.55


def test_rows_in_another_order_are_parted_the_same(tmp_path: Path) -> None:
    frame = pl.read_csv(table(tmp_path / "a.csv", 60))
    one, other = (ng.load(f).split()[1] for f in (frame, frame.reverse()))
    assert set(one.inputs) == set(other.inputs)


def test_rows_of_one_cluster_stay_together(tmp_path: Path) -> None:
    tune, test = ng.load(table(tmp_path / "a.csv", 200)).split(by="chat")
    assert not set(tune.samples["chat"]) & set(test.samples["chat"])
    assert "chat" not in tune.metrics


def test_too_little_to_part_and_a_share_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(NeedsMissing, match=r"too few inputs or clusters to split into two parts \(1\)"):
        ng.load(table(tmp_path / "a.csv", 1)).split()
    with pytest.raises(NlgaugeError, match="between 0 and 1"):
        ng.example().split(1.5)


def test_every_look_at_the_test_part_is_written_down_and_said(tmp_path: Path) -> None:
    table(tmp_path / "a.csv", 120)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        done = run_command(*words, cwd=tmp_path)
        assert done.returncode in (0, 1, 3), done.stderr
        return done

    run("data", "split", "a.csv", "--by", "chat")
    log = tmp_path / "a.test.jsonl.looks.jsonl"
    assert log.read_text() == ""
    run("data", "check", "a.test.jsonl")
    assert log.read_text() == ""  # columns are no results
    for look in (1, 2):
        done = run("gate", "a.test.jsonl", "--min", "kappa=.5", "--metrics", "judge")
        assert f"use number {look} (a.test.jsonl.looks.jsonl)" in " ".join(done.stderr.split())
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["command"] for line in lines] == ["nlgauge gate a.test.jsonl --min kappa=.5 --metrics judge"] * 2
    run("data", "split", "a.csv", "--by", "chat")
    assert len(log.read_text().splitlines()) == 2  # parting again forgets nothing
    assert "use number 3" in ng.load(tmp_path / "a.test.jsonl").notes[0]
    assert not (tmp_path / "a.tune.jsonl.looks.jsonl").exists()
