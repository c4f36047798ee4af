"""Several people label at once, an editor has the file open, clients are slow or send nonsense: no label is lost."""

from __future__ import annotations

import csv
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fault_tools import NLGAUGE, environment, in_namespace, needs_mounts

import nlgauge as ng
from nlgauge.errors import NlgaugeError
from nlgauge.report.explorer import app
from nlgauge.report.explorer.label_file import GivenLabels
from nlgauge.report.explorer.points import Explored

pytest.importorskip("uvicorn")
OUTPUTS = 40


def write_outputs(folder: Path) -> Path:
    path = folder / "outputs.csv"
    rows = [f"s{i % 4},i{i // 4},{i / 10}" for i in range(OUTPUTS)]
    path.write_text("\n".join(["system,input,judge", *rows]) + "\n")
    return path


class Client:
    """One browser: a connection to an explorer."""

    def __init__(self, address: str) -> None:
        self.base, _, self.token = address.strip().partition("http://")[2].partition("/?token=")

    def send(self, path: str, body: bytes | None = None, **headers: str) -> tuple[int, Any]:
        line = http.client.HTTPConnection(self.base, timeout=60)
        line.request("GET" if body is None else "POST", path, body, {"X-Token": self.token, **headers})
        answer = line.getresponse()
        return answer.status, answer.read().decode()

    def label(self, place: int, label: str) -> tuple[int, Any]:
        return self.send("/label", json.dumps({"place": place, "label": label}).encode())


@pytest.fixture
def explore(tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """Start `nlgauge explore` on the table, as a process of its own."""
    write_outputs(tmp_path)
    running = []

    def start(*words: str, **more: str) -> Client:
        how = ["explore", "outputs.csv", "--columns", "metrics=judge", "--no-browser", "--label-file", "l.csv", *words]
        process = subprocess.Popen(
            [*NLGAUGE, *how], cwd=tmp_path, env=environment(tmp_path, PYTHONUNBUFFERED="1", **more),
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        running.append(process)
        assert process.stdout is not None
        return Client(next(line for line in process.stdout if "token=" in line))

    yield start
    for process in running:
        process.terminate()
        process.wait()


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Client]:
    """Start an explorer in a thread of this process, which waits one second for a request."""
    monkeypatch.setattr(app, "REQUEST_SECONDS", 1.0)
    data = ng.load(write_outputs(tmp_path), metrics=["judge"])

    def start(annotator: str = "") -> Client:
        addresses: list[str] = []
        explored = Explored(data, given=GivenLabels(tmp_path / "l.csv", annotator))
        threading.Thread(target=app.serve, args=(explored, 0, addresses.append), daemon=True).start()
        while not addresses:
            time.sleep(0.01)
        return Client(addresses[0])

    return start


def assert_all_labels(path: Path, names: list[str]) -> None:
    rows = list(csv.DictReader(path.open(newline="")))
    given = {(row["annotator"], row["system"], row["input"]): row["label"] for row in rows}
    assert len(given) == len(rows) == OUTPUTS * len(names)
    loaded = ng.load(path.with_name("outputs.csv"), metrics=["judge"], labels=path)
    assert len(loaded.ratings) == OUTPUTS * len(names)
    assert sorted(loaded.ratings["rater"].unique()) == names


def label_everything(clients: list[Client]) -> None:
    """Each client labels every output, all at once."""
    wrong: list[object] = []

    def work(client: Client) -> None:
        wrong.extend(a for place in range(OUTPUTS) if (a := client.label(place, str(1 + place % 5)))[0] != 200)

    threads = [threading.Thread(target=work, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_four_annotators_at_once_lose_no_label(quick: Callable[..., Client], tmp_path: Path) -> None:
    names = ["ann", "bob", "cem", "dua"]
    label_everything([quick(name) for name in names])
    assert_all_labels(tmp_path / "l.csv", names)


@pytest.mark.slow
def test_four_annotators_in_four_processes_lose_no_label(explore: Callable[..., Client], tmp_path: Path) -> None:
    names = ["ann", "bob", "cem", "dua"]
    label_everything([explore("--annotator", name) for name in names])
    assert_all_labels(tmp_path / "l.csv", names)


def test_two_windows_and_an_editor_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    one, two = GivenLabels(path), GivenLabels(path)
    one.put("A", "1", "pass")
    old = path.read_text()  # an editor opens the file …
    one.put("A", "2", "pass")
    two.put("A", "3", "fail")
    two.put("A", "2", "fail")  # a change of mind
    path.write_text(old.replace("A,1,pass", "A,1,fail") + "A,9,fail")  # … and saves it, with a change and a line more
    assert two.labels() == {("A", "1"): "fail", ("A", "2"): "fail", ("A", "3"): "fail", ("A", "9"): "fail"}
    one.put("A", "4", "pass")
    assert two.labels() == one.labels()
    assert one.labels()["A", "9"] == "fail" and one.labels()["A", "4"] == "pass" and len(one.labels()) == 5


def test_a_line_added_by_hand_stays(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    given = GivenLabels(path)
    given.put("A", "1", "pass")
    with path.open("a") as file:
        file.write("A,2,fail,,\n")
    given.put("A", "3", "pass")
    assert given.labels() == {("A", "1"): "pass", ("A", "2"): "fail", ("A", "3"): "pass"}


def test_a_file_of_three_columns_goes_on_and_gets_the_others(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    path.write_bytes(b"\xef\xbb\xbfsystem,input,label\r\nA,1,pass\r\n")
    given = GivenLabels(path)
    assert given.labels() == {("A", "1"): "pass"}
    assert given.put("A", "2", "fail") == {("A", "1"): "pass", ("A", "2"): "fail"}
    assert [line[:9] for line in path.read_text().splitlines()] == ["system,in", "A,1,pass,", "A,2,fail,"]


def test_the_last_label_of_an_annotator_holds_and_one_can_be_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    ann, bob = GivenLabels(path, "ann"), GivenLabels(path, "bob")
    for label in ("4", "2", ""):
        ann.put("s0", "i0", label)
    ann.put("s1", "i0", "5")
    bob.put("s0", "i0", "3")
    loaded = ng.load(write_outputs(tmp_path), metrics=["judge"], labels=path)
    assert set(loaded.ratings.select("system", "rater", "value").rows()) == {("s1", "ann", 5.0), ("s0", "bob", 3.0)}
    assert any("labels replaced or withdrawn later: 3" in note for note in loaded.notes)


def test_a_label_is_on_the_disk_when_the_page_says_so(explore: Callable[..., Client], tmp_path: Path) -> None:
    client = explore()
    assert client.label(0, "pass") == (200, '{"0": "pass"}')
    assert "s0,i0,pass,," in (tmp_path / "l.csv").read_text()


@pytest.mark.parametrize("body", [b'{"place": 1e400, "label": "4"}', b"[" * 100_000, b"[]", b'{"place": [1]}', b"\xff"])
def test_a_senseless_body_is_refused_and_nothing_else_happens(quick: Callable[..., Client], body: bytes) -> None:
    client = quick()
    for path in ("/label", "/list", "/export"):
        assert client.send(path, body)[0] == 400
    assert client.send("/labels") == (200, "{}")


def test_a_large_body_is_refused_before_it_is_read(quick: Callable[..., Client]) -> None:
    client = quick()
    with socket.create_connection(client.base.split(":"), timeout=30) as line:
        head = f"POST /list HTTP/1.1\r\nHost: {client.base}\r\nX-Token: {client.token}\r\nContent-Length: 300000000\r\n\r\n"
        line.sendall(head.encode())
        sent = 0
        try:
            while sent < 300_000_000:
                sent += line.send(b" " * (1 << 16))
        except OSError:  # the server closed the connection
            pass
    assert sent < 64 << 20
    assert client.send("/labels")[0] == 200


def test_slow_clients_are_cut_off_and_hinder_nobody(quick: Callable[..., Client]) -> None:
    client = quick()
    host, _, port = client.base.partition(":")
    slow = [socket.create_connection((host, int(port)), timeout=30) for _ in range(100)]
    head = f"POST /label HTTP/1.1\r\nHost: {client.base}\r\nX-Token: {client.token}\r\nContent-Length: 99\r\n\r\n{{"
    for k, line in enumerate(slow):
        line.sendall(b"GET / HTTP/1.1\r\nX: " if k % 2 else head.encode())
    assert client.label(0, "pass")[0] == 200
    until = time.monotonic() + 20
    for line in slow:
        line.settimeout(max(0.1, until - time.monotonic()))
        while True:
            try:
                if not line.recv(1 << 16):
                    break
            except ConnectionError:
                break
        line.close()
    assert client.label(1, "fail")[0] == 200


@needs_mounts
def test_a_label_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "ro").mkdir()
    code = "import sys; from pathlib import Path; from nlgauge.report.explorer.label_file import GivenLabels\n"
    code += "try: GivenLabels(Path('ro/l.csv')).put('A', '1', 'pass')\nexcept Exception as e: print(type(e), e)"
    before = in_namespace('mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"; shift', str(tmp_path / "ro"))
    ran = subprocess.run(
        [*before, sys.executable, "-c", code], cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=True
    )
    assert "NlgaugeError" in ran.stdout and "cannot be written (Read-only file system)" in ran.stdout


@pytest.mark.parametrize("name", ["two\nlines", " ann", "\x1b[2J"])
def test_the_name_of_an_annotator_is_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(NlgaugeError, match="expected a name in one line"):
        GivenLabels(tmp_path / "l.csv", name)
