"""A full disk, a limit, a read-only folder: one clear line, exit code 2, and the old file stays whole."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fault_tools import (
    NLGAUGE,
    OLD,
    assert_one_line,
    begun,
    environment,
    in_namespace,
    needs_mounts,
    nlgauge,
    write_outputs,
)

from nlgauge.errors import NlgaugeError
from nlgauge.scoring.store import Store
from nlgauge.writing import whole

WRITERS = [
    (["score", "outputs.jsonl", "-m", "len,bleu", "-o"], "scored.jsonl"),
    (["score", "outputs.jsonl", "-m", "len,bleu", "-o"], "scored.parquet"),
    (["score", "outputs.jsonl", "-m", "len,bleu", "-o"], "scored.csv"),
    (["data", "convert", "outputs.jsonl", "-o"], "tidy.jsonl.gz"),
    (["run", "example", "--quick", "-o"], "page.html"),
]


def only_old(folder: Path, name: str) -> None:
    """The old file as it was, and no piece of the new one beside it."""
    assert (folder / name).read_text() == OLD
    assert sorted(p.name for p in folder.iterdir()) == [name]


@pytest.mark.parametrize(("words", "name"), WRITERS[:4], ids=[name for _, name in WRITERS[:4]])
def test_a_file_that_may_not_grow_leaves_the_old_one(tmp_path: Path, words: list[str], name: str) -> None:
    write_outputs(tmp_path / "outputs.jsonl", 40)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text(OLD)
    ran = nlgauge(tmp_path, *words, f"out/{name}", limit=500)
    assert ran.returncode == 2, ran.stderr
    assert_one_line(ran.stderr, f"out/{name}: cannot be written (File too large)")
    only_old(tmp_path / "out", name)


def test_batches_that_are_done_survive_a_limit_on_files(tmp_path: Path) -> None:
    write_outputs(tmp_path / "outputs.jsonl", 1500)
    words = ["score", "outputs.jsonl", "-m", "len,bleu", "--batch", "500", "-o", "out/scored.csv"]
    whole = nlgauge(tmp_path, *words[:-1], "whole.csv")
    assert whole.returncode == 0, whole.stderr
    size = (tmp_path / "whole.csv").stat().st_size
    ran = nlgauge(tmp_path, *words, limit=size - 10)  # each batch fits, the whole does not
    assert ran.returncode == 2, ran.stderr
    assert_one_line(ran.stderr, "File too large")
    assert not (tmp_path / "out" / "scored.csv").exists()
    again = nlgauge(tmp_path, *words)
    assert (again.returncode, "batches completed by an earlier run: 3" in again.stderr) == (0, True), again.stderr
    assert (tmp_path / "out" / "scored.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


@needs_mounts
@pytest.mark.parametrize(("words", "name"), [WRITERS[1], WRITERS[4]], ids=["parquet", "report"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, words: list[str], name: str) -> None:
    write_outputs(tmp_path / "outputs.jsonl", 900)
    (tmp_path / "small").mkdir()
    (tmp_path / "after").mkdir()
    prepare = 'mount -t tmpfs -o size=8k none "$1"; printf "%s" "$2" >"$1/$3"; D=$1; A=$4; shift 4; set +e'
    # The mount goes with the process: what it holds in the end is copied out.
    script = f'{prepare}\n"$@"; code=$?; cp -p "$D"/* "$A"; exit $code; set --'
    before = in_namespace(script, str(tmp_path / "small"), OLD, name, str(tmp_path / "after"))
    ran = nlgauge(tmp_path, *words, f"small/{name}", before=before)
    assert ran.returncode == 2, ran.stderr
    assert_one_line(ran.stderr, f"small/{name}: cannot be written (No space left on device); free some space")
    only_old(tmp_path / "after", name)


@needs_mounts
def test_a_read_only_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "ro").mkdir()
    (tmp_path / "ro" / "table.csv").write_text(OLD)
    before = in_namespace('mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"; shift', str(tmp_path / "ro"))
    ran = nlgauge(tmp_path, "data", "convert", "example", "-o", "ro/table.csv", before=before)
    assert ran.returncode == 2, ran.stderr
    assert_one_line(ran.stderr, "ro/table.csv: cannot be written (Read-only file system); name another place.")
    only_old(tmp_path / "ro", "table.csv")
    kept = nlgauge(tmp_path, "cache", "info", before=before, NLGAUGE_STORE=str(tmp_path / "ro" / "s.sqlite"))
    assert kept.returncode == 2
    assert_one_line(kept.stderr, "Read-only file system")


def test_a_folder_that_is_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text(OLD)
    ran = nlgauge(tmp_path, "data", "convert", "example", "-o", "taken/table.csv")
    assert ran.returncode == 2
    assert_one_line(ran.stderr, "taken/table.csv: cannot be written")
    with pytest.raises(NlgaugeError, match="score store"):
        Store(tmp_path / "taken" / "s.sqlite").counts()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("form", ["table", "csv"])
def test_a_full_disk_behind_stdout_is_one_line(tmp_path: Path, form: str) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [*NLGAUGE, "list", "measures", "--format", form],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(tmp_path),
            check=False,
        )
    assert ran.returncode == 2
    assert ran.stderr.splitlines() == [
        "nlgauge: the output: cannot be written (No space left on device); free some space, or name another place."
    ]


def test_a_reader_that_goes_away_is_no_failed_comparison(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    ran = subprocess.run(
        [*NLGAUGE, "list", "measures"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path),
        check=False,
    )
    os.close(write)
    assert (ran.returncode, ran.stderr) == (141, "")


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ("score outputs.jsonl -m len -o new.jsonl", "new.jsonl"),
        ("score outputs.jsonl -m len --batch 50 -o new.csv", "new.csv"),
        ("analyze robustness outputs.jsonl -m len --sample 5 -o new.html", "new.html"),
        ("run example --quick -o new.html", "new.html"),
        ("analyze correlate example -o new.csv", "new.csv"),
        ("data convert outputs.jsonl -o new.parquet", "new.parquet"),
    ],
)
def test_a_reader_that_goes_away_costs_no_file(tmp_path: Path, words: str, file: str) -> None:
    write_outputs(tmp_path / "outputs.jsonl", 100)
    read, write = os.pipe()
    os.close(read)
    ran = subprocess.run(
        [*NLGAUGE, *words.split()],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path),
        check=False,
        cwd=tmp_path,
    )
    os.close(write)
    assert ran.returncode in (0, 141), ran.stderr
    assert (tmp_path / file).exists()


def test_kill_9_while_the_output_is_written_leaves_the_old_file(tmp_path: Path) -> None:
    write_outputs(tmp_path / "outputs.jsonl", 6_000)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "scored.jsonl").write_text(OLD)
    run = begun(tmp_path, "score", "outputs.jsonl", "-m", "len", "-o", "out/scored.jsonl")
    part = tmp_path / "out" / f"scored.jsonl.{socket.gethostname()}-{run.pid}.part"
    until = time.monotonic() + 120
    while not part.exists() and run.poll() is None and time.monotonic() < until:
        time.sleep(0.0002)
    run.kill()
    run.communicate()
    # Whoever was quicker: the old file or the new one, never a half.
    kept = (tmp_path / "out" / "scored.jsonl").read_text()
    assert kept == OLD or kept.count("\n") == 6_001
    again = nlgauge(tmp_path, "score", "outputs.jsonl", "-m", "len", "-o", "out/scored.jsonl")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "out" / "scored.jsonl").read_text().count("\n") == 6_001


SLOW_WRITER = """
import sys, time
from nlgauge.writing import whole
with whole(sys.argv[1]) as part, part.open("w") as file:
    file.write("half")
    file.flush()
    print("half", flush=True)
    time.sleep(60)
"""


def test_a_writer_killed_halfway_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    target.write_text(OLD)
    run = subprocess.Popen([sys.executable, "-c", SLOW_WRITER, str(target)], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert run.stdout.readline() == "half\n"
    run.kill()
    run.communicate()
    assert target.read_text() == OLD


def test_two_writers_of_one_file_do_not_mix(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    target.write_text(OLD)
    target.chmod(0o600)
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    with whole(link) as part:
        run = subprocess.run([sys.executable, "-c", SLOW_WRITER.replace("60", "0"), str(target)], check=True)
        assert (run.returncode, target.read_text()) == (0, "half")
        part.write_text("mine")
    assert (target.read_text(), link.is_symlink()) == ("mine", True)
    assert target.stat().st_mode & 0o777 == 0o600  # not opened to others on the way


def test_a_name_that_no_file_can_have_is_one_line() -> None:
    with pytest.raises(NlgaugeError, match=r"score store a\\x00b: no file has a NUL"):
        Store("a\0b").counts()


def write_scores(path: Path) -> None:
    rows = [f"s{i % 4},i{i // 4},{i * 7 % 11},{i * 3 % 5}" for i in range(40)]
    path.write_text("\n".join(["system,input,m,human", *rows]) + "\n")


def test_a_file_name_of_254_bytes_is_read_and_written(tmp_path: Path) -> None:
    read, written = "a" * 250 + ".csv", "ü" * 125 + ".csv"
    write_scores(tmp_path / read)
    correlated = nlgauge(tmp_path, "analyze", "correlate", read)
    assert correlated.returncode == 0, correlated.stderr
    converted = nlgauge(tmp_path, "data", "convert", read, "-o", written)
    assert converted.returncode == 0, converted.stderr
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == [read, written]


CLOSING = (
    "import os, sys; [os.close(int(n)) for n in sys.argv[1]]; os.execv(sys.executable, [sys.executable, *sys.argv[2:]])"
)


ANALYZE, CONVERT = ["analyze", "correlate", "s.csv", "-o", "t.csv"], ["data", "convert", "s.csv", "-o", "u.csv"]


@pytest.mark.parametrize(("closed", "commands"), [("1", [ANALYZE]), ("2", [CONVERT]), ("012", [ANALYZE, CONVERT])])
def test_closed_streams_change_neither_the_result_nor_the_exit_code(
    tmp_path: Path, closed: str, commands: list[list[str]]
) -> None:
    write_scores(tmp_path / "s.csv")
    for words in commands:
        ran = subprocess.run(
            [sys.executable, "-c", CLOSING, closed, *NLGAUGE[1:], *words],
            cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        assert "Traceback" not in ran.stderr and (tmp_path / words[-1]).stat().st_size > 100
    wrong = subprocess.run(
        [sys.executable, "-c", CLOSING, closed, *NLGAUGE[1:], "data", "check", "none.csv"],
        cwd=tmp_path, env=environment(tmp_path), capture_output=True, check=False,
    )  # fmt: skip
    assert wrong.returncode == 2
