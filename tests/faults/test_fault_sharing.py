"""Several runs on one cache: in containers, stopped, on file systems without locks; each request is paid once."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fault_tools import NLGAUGE, assert_one_line, environment, in_namespace, needs_mounts, nlgauge

from nlgauge.metrics.judge import client
from nlgauge.metrics.judge.client import Asking, ask
from nlgauge.metrics.judge.replies import Reply, Request
from nlgauge.scoring import work_claims
from nlgauge.scoring.file_locks import ByteLocks
from nlgauge.scoring.replies import Replies
from nlgauge.scoring.store import Store
from nlgauge.scoring.work_claims import Claims

Serve = Callable[..., Any]
CONTAINER = ["unshare", "-p", "-f", "--mount-proc"]


def contained() -> bool:
    """Whether this user may make a PID namespace."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*CONTAINER, "true"], capture_output=True, check=False).returncode == 0


def write_table(folder: Path, rows: int) -> Path:
    lines = [f"s{i % 4},i{i // 4},output {i},article {i // 4},{1 + i % 5}" for i in range(rows)]
    (folder / "outputs.csv").write_text("\n".join(["system,input,output,source,coherence", *lines]) + "\n")
    return folder


def judging(folder: Path, name: str, url: str, *words: str, before: list[str] | None = None) -> subprocess.Popen[str]:
    """A judge run of its own, with 8 requests at once unless the words say otherwise."""
    how = ["judge", "outputs.csv", "--aspect", "coherence", "--model", "m", "--concurrency", "8", "-o", name]
    env = environment(folder, NLGAUGE_BASE_URL=url)
    return subprocess.Popen(
        [*(before or []), *NLGAUGE, *how, *words],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(not contained(), reason="no right to make a PID namespace (unshare -p)")
def test_two_containers_on_one_cache_pay_once(serve: Serve, tmp_path: Path) -> None:
    server = serve(latency=0.03)
    write_table(tmp_path, 120)
    both = [judging(tmp_path, f"{k}.jsonl", server.base_url, before=CONTAINER) for k in "ab"]
    ended = [run.communicate(timeout=120)[1] for run in both]
    assert [run.returncode for run in both] == [0, 0], ended
    assert server.log()["stats"]["requests"] == 120
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_two_runs_do_not_wait_for_what_failed_in_the_other(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run has claimed requests that fail for good, and would like those of the other one."""
    monkeypatch.setattr(client, "PART", 4)
    server = serve(latency=0.02, faults={"400": 0.4}, most=10**6)
    body = {"model": "m", "max_tokens": 9}
    requests = [
        Request(
            f"{server.base_url}/chat/completions", {**body, "messages": [{"role": "user", "content": f"prompt {k}"}]}
        )
        for k in range(40)
    ]
    outcomes: list[int] = []

    def run() -> None:
        replies = ask(requests, Replies(Store(tmp_path / "s.sqlite")), Asking(concurrency=2, attempts=1))
        outcomes.append(sum(isinstance(reply, Reply) for reply in replies.values()))

    threads = [threading.Thread(target=run, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(outcomes) == 2, "they wait for each other"
    assert min(outcomes) > 10


CHAOS = {"429": 0.1, "drop": 0.08, "half": 0.05, "html": 0.04, "500": 0.05, "drip": 0.1, "hang": 0.004}
IN_FLIGHT = 8


@pytest.mark.parametrize(("kills", "rows"), [(3, 120), pytest.param(50, 3000, marks=pytest.mark.long)])
def test_kills_under_chaos_lose_nothing_and_pay_for_no_more_than_was_in_flight(
    serve: Serve, tmp_path: Path, kills: int, rows: int
) -> None:
    """kill -9 at random moments, while the endpoint refuses, cuts lines, sends garbage and is slow."""
    server = serve(latency=0.1, faults=CHAOS, most=3)
    rng = random.Random(7)
    write_table(tmp_path, rows)
    how = ["--timeout", "3", "--attempts", "30"]
    kept: set[bytes] = set()
    killed = 0
    while killed < kills:
        run = judging(tmp_path, "judged.jsonl", server.base_url, *how)
        before = server.log()["stats"].get("requests", 0)
        while server.log()["stats"].get("requests", 0) == before and run.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 1.0 if kills > 10 else 0.3))
        assert run.poll() is None, run.communicate()[1]  # done before all kills: the table is too small
        run.kill()
        run.communicate()
        killed += 1
        now = {bytes.fromhex(row["key"]) for row in Replies(Store(tmp_path / "store.sqlite")).all()}
        assert kept <= now
        kept = now
    run = judging(tmp_path, "judged.jsonl", server.base_url, *how)
    _, errors = run.communicate(timeout=500)
    assert run.returncode == 0, errors
    stats = server.log()["stats"]
    twice = stats["good"] + stats["drip"] - rows  # replies that were sent whole
    print(f"{killed} kills, {rows} requests: {twice} replies paid twice, {stats}")
    assert 0 <= twice <= killed * IN_FLIGHT
    calm = nlgauge(
        tmp_path, "judge", "outputs.csv", "--aspect", "coherence", "--model", "m", "-o", "calm.jsonl",
        NLGAUGE_BASE_URL=serve().base_url, NLGAUGE_STORE="other.sqlite",
    )  # fmt: skip
    assert calm.returncode == 0, calm.stderr
    # The first line names the endpoint's address.
    judged, undisturbed = ((tmp_path / f"{name}.jsonl").read_text().splitlines()[1:] for name in ("judged", "calm"))
    assert judged == undisturbed and len(judged) == rows


OWNER = """
import sys, time
from nlgauge.scoring import work_claims
work_claims.BEAT_SECONDS = 0.05
from nlgauge.scoring.store import Store
claims = work_claims.Claims(Store(sys.argv[1]))
print(len(claims.take([b"a", b"b"])), flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP")
def test_a_slow_run_keeps_its_claims_and_a_stopped_one_loses_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_claims, "LEASE_SECONDS", 0.5)
    store = Store(tmp_path / "s.sqlite")
    words = [sys.executable, "-c", OWNER, str(store.path)]
    run = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert run.stdout is not None and run.stdout.readline() == b"2\n"
    claims, until = Claims(store), time.monotonic() + 1.5
    while time.monotonic() < until:  # three leases long it does nothing but live
        assert claims.take([b"a"]) == set()
        time.sleep(0.05)
    run.send_signal(signal.SIGSTOP)
    until = time.monotonic() + 10
    while not claims.take([b"a"]):
        assert time.monotonic() < until, "a stopped run blocks the others"
        time.sleep(0.05)
    run.kill()
    run.communicate()


def test_a_pause_of_the_watcher_does_not_count_against_the_other_run() -> None:
    watched = work_claims._Watched(3)
    watched.last -= 1000  # this process was suspended, or waited for a locked store
    assert watched.look(3) <= work_claims.BEAT_SECONDS
    assert watched.look(4) == 0


def test_the_child_of_a_fork_holds_nothing_of_its_parent(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    claims = Claims(store)
    assert claims.take([b"a"]) == {b"a"}
    store.close()
    code = 1
    if (pid := os.fork()) == 0:
        try:
            alone = claims.take([b"a", b"b"])  # under an owner of its own
            code = 0 if alone == {b"b"} else 1
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    assert claims.take([b"a", b"b"]) == {b"a", b"b"}  # the child is gone, and its claim with it
    claims.drop()
    assert not ByteLocks._by_path


def test_eight_threads_of_one_process_share_the_work(tmp_path: Path) -> None:
    keys = [str(k).encode() for k in range(400)]
    taken: list[bytes] = []

    def work(number: int) -> None:
        claims = Claims(Store(tmp_path / "s.sqlite"))
        for key in random.Random(number).sample(keys, len(keys)):
            taken.extend(claims.take([key]) - ours[number])
            ours[number].add(key) if key in claims._held else None
        barrier.wait()

    ours: list[set[bytes]] = [set() for _ in range(8)]
    barrier = threading.Barrier(8)
    threads = [threading.Thread(target=work, args=[k]) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == sorted(keys)


@needs_mounts
def test_a_cache_on_a_network_file_system_is_refused(tmp_path: Path) -> None:
    """The kernel's list of mounts is replaced, for this process only, by one in which the folder is on a server."""
    (tmp_path / "remote").mkdir()
    (tmp_path / "mounts").write_text(
        "22 1 8:1 / / rw - ext4 /dev/sda rw\n" + f"23 22 0:4 / {tmp_path}/remote rw - nfs4 server:/home rw\n"
    )
    before = in_namespace('mount --bind "$1" /proc/$$/mountinfo; shift; exec "$@"; set --', str(tmp_path / "mounts"))
    ran = nlgauge(tmp_path, "cache", "info", before=before, NLGAUGE_STORE=str(tmp_path / "remote" / "s.sqlite"))
    assert ran.returncode == 2, ran.stderr
    assert_one_line(
        ran.stderr, "is on a network file system (nfs4), where locks between machines do not work; set NLGAUGE_STORE"
    )
    assert not list((tmp_path / "remote").iterdir())
    local = nlgauge(tmp_path, "cache", "info", before=before)
    assert local.returncode == 0, local.stderr


NO_LOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
static int refused(int command) { return command == F_SETLK || command == F_SETLKW || command == F_GETLK; }
#define REPLACED(name) int name(int fd, int command, ...) { \
  va_list rest; va_start(rest, command); void *value = va_arg(rest, void *); va_end(rest); \
  if (refused(command)) { errno = ENOLCK; return -1; } \
  return ((int (*)(int, int, ...)) dlsym(RTLD_NEXT, #name))(fd, command, value); }
REPLACED(fcntl)
REPLACED(fcntl64)
"""


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("gcc") is None, reason="needs Linux and gcc")
def test_a_file_system_without_locks_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "no_locks.c").write_text(NO_LOCKS)
    library = tmp_path / "no_locks.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "no_locks.c", "-ldl"], check=True)
    began = time.monotonic()
    ran = nlgauge(tmp_path, "cache", "info", LD_PRELOAD=str(library), NLGAUGE_STORE_WAIT="20")
    assert ran.returncode == 2, ran.stderr
    assert_one_line(ran.stderr, "this file system has no file locks, which several runs need; set NLGAUGE_STORE to")
    assert time.monotonic() - began < 15


@needs_mounts
def test_a_cache_in_a_read_only_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "ro").mkdir()
    Replies(Store(tmp_path / "ro" / "s.sqlite")).store.close()
    before = in_namespace('mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"; shift', str(tmp_path / "ro"))
    ran = nlgauge(tmp_path, "cache", "info", before=before, NLGAUGE_STORE=str(tmp_path / "ro" / "s.sqlite"))
    assert ran.returncode == 2, ran.stderr
    assert_one_line(ran.stderr, "Read-only file system")
