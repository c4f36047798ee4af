"""Files that are no tables, or have odd names and types: one clear line, or the values; never a wait or a traceback."""

from __future__ import annotations

import datetime
import lzma
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pandas as pd
import polars as pl
import pytest
from fuzz.contract import in_time

import nlgauge as ng
from command import run_command
from nlgauge.analyses.verdicts.policy import read_policy
from nlgauge.data.files import PACKED
from nlgauge.datasets.results import read_results
from nlgauge.errors import DataError, NlgaugeError
from nlgauge.metrics.alignment.training_rows import read_documents
from nlgauge.metrics.judge.batch_files import read_batch
from nlgauge.metrics.judge.cost import load_prices
from nlgauge.metrics.judge.replies import Keeper
from nlgauge.metrics.judge.task import load_task
from nlgauge.report.explorer.label_file import GivenLabels

ROWS = "system,input,output,human.quality,bleu\n" + "".join(
    f"s{k % 4},i{k // 4},text {k},{k % 5},{k * 7 % 11 / 11}\n" for k in range(24)
)
posix = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="needs pipes, devices and free names of Linux")
# A file that is read on and on would stop the whole suite: these run in a process with a limit of time and memory.
LIMITED = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)); from nlgauge.cli import main; main()"


def refused_soon(*words: object) -> str:
    argv = [sys.executable, "-c", LIMITED, *map(os.fspath, words)]
    done = subprocess.run(argv, capture_output=True, timeout=30, check=False)
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 2, lines
    return lines[-1]


@posix
def test_a_pipe_without_a_writer_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    assert "pipe.csv: is a pipe" in refused_soon("analyze", "correlate", tmp_path / "pipe.csv")


@posix
def test_a_file_without_an_end_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    assert "zero.csv: is a device" in refused_soon("analyze", "correlate", tmp_path / "zero.csv")


@posix
@pytest.mark.parametrize("words", [("gate", "{}", "--min", "kappa=.5"), ("score", "{}", "-m", "len", "--batch", "9")])
def test_every_verb_refuses_a_device(words: tuple[str, ...], tmp_path: Path) -> None:
    device = tmp_path / "null.csv"
    device.symlink_to("/dev/null")
    done = run_command(*(w.format(device) for w in words), "-o", tmp_path / "out.csv")
    assert done.returncode == 2 and "is a device" in done.stderr


def test_a_packed_table_is_named_as_such(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.csv", "w") as archive:
        archive.writestr("inside.csv", ROWS)
    (tmp_path / "t.csv.xz").write_bytes(lzma.compress(ROWS.encode()))
    with pytest.raises(NlgaugeError, match=r"is a zip archive of inside\.csv; unpack it"):
        ng.load(tmp_path / "t.csv")
    with pytest.raises(NlgaugeError, match=r"is a zip archive of inside\.csv"):
        ng.load(tmp_path / "t.csv", encoding="latin-1")
    with pytest.raises(NlgaugeError, match="is a xz archive; unpack it"):
        ng.load(tmp_path / "t.csv.xz")
    assert len(PACKED) == 6


@pytest.mark.parametrize("form", ["parquet", "polars", "pandas", "rows"])
def test_durations_are_numbers_in_every_format(form: str, tmp_path: Path) -> None:
    took = [datetime.timedelta(seconds=k, milliseconds=500) for k in range(24)]
    frame = pl.read_csv(ROWS.encode()).with_columns(pl.Series("took", took))
    data: object = frame if form == "polars" else frame.to_dicts() if form == "rows" else tmp_path / "t.parquet"
    if form == "pandas":
        data = pd.DataFrame(frame.to_dict(as_series=False))
    elif form == "parquet":
        frame.write_parquet(tmp_path / "t.parquet")
    read = ng.load(data, metrics=["took", "bleu"])
    assert read.scores["took"].to_list() == [k + 0.5 for k in range(24)]


@pytest.mark.parametrize(
    "values", [[b"\xff\x00"] * 24, [datetime.timedelta(1)] * 24, [[datetime.timedelta(1)]] * 24, [{"a": b"x"}] * 24]
)
def test_a_column_of_an_odd_type_is_written_as_text(values: list[object], tmp_path: Path) -> None:
    pl.read_csv(ROWS.encode()).with_columns(pl.Series("note", values)).write_parquet(tmp_path / "t.parquet")
    for suffix in ("csv", "jsonl"):
        done = run_command("data", "convert", tmp_path / "t.parquet", "-o", tmp_path / f"out.{suffix}")
        assert done.returncode == 0, done.stderr
        assert len(ng.load(tmp_path / f"out.{suffix}")) == 24


@posix
def test_a_name_that_is_not_utf_8_is_read_and_written(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"na\xffme.csv")
    odd.write_text(ROWS)
    assert ng.load(odd).name == "na\\udcffme.csv"
    (tmp_path / "plain.csv").write_text(ROWS)
    for words in (
        ("data", "convert", odd, "-o", tmp_path / "out.jsonl"),
        ("data", "convert", tmp_path / "plain.csv", "-o", tmp_path / os.fsdecode(b"\xff.csv")),
        ("data", "split", odd, "-o", tmp_path / "part.csv"),
        ("analyze", "correlate", odd, "-o", tmp_path / "out.json"),
        ("data", "check", odd),
    ):
        done = run_command(*words)
        assert done.returncode == 0, done.stderr
    assert ng.load(tmp_path / "out.jsonl").name == "na\\udcffme.csv"


@posix
def test_a_name_as_long_as_names_can_be_is_read_and_written(tmp_path: Path) -> None:
    long = tmp_path / ("x" * 251 + ".csv")
    long.write_text(ROWS)
    assert len(ng.load(long)) == 24
    done = run_command("analyze", "correlate", long, "-o", tmp_path / ("é" * 125 + ".json"))
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.iterdir())) == 2
    done = run_command("data", "split", long)
    assert done.returncode == 2 and "File name too long" in done.stderr


@pytest.mark.parametrize("name", ["{name}", "{0}", "%s", "{{ x }}", "$HOME", "{output.__class__}"])
def test_a_name_is_no_template(name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(ROWS.replace("s0", name).replace("bleu", f"m {name}"))
    data = ng.load(path, metrics=[f"m {name}"])
    assert name in data.systems
    assert f"m {name}" in str(ng.correlate(data))


SETTINGS: dict[str, Callable[[Path], object]] = {
    "prices": load_prices,
    "policy": read_policy,
    "results": read_results,
    "documents": read_documents,
    "task": lambda path: load_task(str(path)),
    "batch": lambda path: read_batch(path, [], cast(Keeper, None)),
    "labels": GivenLabels,
    "columns": lambda path: ng.load(path.with_name("table.csv")),
}


@posix
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_pipe_or_a_device_in_place_of_a_file_of_settings_is_refused_at_once(
    name: str, kind: str, tmp_path: Path
) -> None:
    (tmp_path / "table.csv").write_text("system,input,human.quality,m\nA,1,2,.5\n")
    path = tmp_path / ("nlgauge.toml" if name == "columns" else "task.yaml" if name == "task" else "file.json")
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with in_time(5), pytest.raises(DataError, match=rf"{path.name}: is a {kind}; expected a regular file"):
        SETTINGS[name](path)
