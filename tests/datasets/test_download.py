"""Downloads against a real HTTP server on this machine that cuts, lies, dawdles and redirects."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nlgauge.cli import build
from nlgauge.datasets import catalog as catalogue
from nlgauge.datasets import download
from nlgauge.datasets.catalog import Entry, File, Origin
from nlgauge.errors import NeedsMissing, NlgaugeError

CONTENT = bytes(range(256)) * 800  # 204,800 bytes
SHA256 = hashlib.sha256(CONTENT).hexdigest()
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, str | None]] = []  # path and Range of each request

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        before = sum(path == self.path for path, _ in self.server.seen)
        self.server.seen.append((self.path, wanted))
        start = int(re.sub(r"\D", "", wanted)) if wanted else 0
        getattr(self, self.path.strip("/").split("/")[0].replace("-", "_"))(start, before)

    def send(self, body: bytes, start: int = 0, status: int = 200, length: int | None = None) -> None:
        self.send_response(206 if start else status)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(body) - start if length is None else length))
        self.end_headers()
        self.wfile.write(body[start:] if length is None else body)

    def whole(self, start: int, before: int) -> None:
        self.send(CONTENT, start)

    def someone(self, start: int, before: int) -> None:  # the path that url_of builds
        self.send(CONTENT, start)

    def redirect(self, start: int, before: int) -> None:
        self.send_response(302)
        self.send_header("Location", f"{self.server.url}/whole")
        self.end_headers()

    def cut_once(self, start: int, before: int) -> None:
        if before:
            self.send(CONTENT, start)
        else:
            self.send(CONTENT[:70_000], length=len(CONTENT))

    def cut_once_no_range(self, start: int, before: int) -> None:
        self.send(CONTENT if before else CONTENT[:70_000], length=len(CONTENT))

    def cut_always(self, start: int, before: int) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:1000])

    def wrong(self, start: int, before: int) -> None:
        self.send(CONTENT[::-1])

    def longer(self, start: int, before: int) -> None:
        self.send(CONTENT + b"and more")

    def missing(self, start: int, before: int) -> None:
        self.send_error(404)

    def busy_once(self, start: int, before: int) -> None:
        if before:
            self.send(CONTENT, start)
        else:
            self.send_error(503)

    def forgot(self, start: int, before: int) -> None:
        if start:
            self.send_error(416)
        else:
            self.send(CONTENT)

    def silent(self, start: int, before: int) -> None:
        time.sleep(1.5)

    def trickle(self, start: int, before: int) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        for _ in range(60):
            try:
                self.wfile.write(b"x")
            except OSError:  # the client has given up
                return
            time.sleep(0.05)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(download, "PAUSE", 0.01)
    server = Server()
    thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.02), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def fetch(server: Server, path: str, target: Path, tell: download.Tell = lambda _: None) -> Path:
    return download.download(f"{server.url}/{path}", target, len(CONTENT), SHA256, tell)


def nothing_left(target: Path) -> bool:
    return not target.exists() and not target.with_name(target.name + ".part").exists()


@pytest.mark.parametrize("path", ["whole", "redirect", "cut-once", "cut-once-no-range", "busy-once"])
def test_the_file_arrives_whole(server: Server, tmp_path: Path, path: str) -> None:
    target = tmp_path / "new" / "file.bin"
    assert fetch(server, path, target).read_bytes() == CONTENT
    assert list(target.parent.iterdir()) == [target]


def test_progress_ends_at_the_size_and_never_passes_it(server: Server, tmp_path: Path) -> None:
    told: list[int] = []
    fetch(server, "whole", tmp_path / "f", told.append)
    assert told == sorted(told)
    assert told[0] == 0
    assert told[-1] == len(CONTENT)


def test_a_cut_download_resumes_where_it_broke(server: Server, tmp_path: Path) -> None:
    fetch(server, "cut-once", tmp_path / "f")
    assert [wanted for _, wanted in server.seen] == [None, "bytes=70000-"]


def test_a_part_of_an_earlier_run_is_gone_on_with(server: Server, tmp_path: Path) -> None:
    (tmp_path / "f.part").write_bytes(CONTENT[:1234])
    assert fetch(server, "whole", tmp_path / "f").read_bytes() == CONTENT
    assert server.seen == [("/whole", "bytes=1234-")]


def test_a_part_that_the_server_does_not_know_is_begun_anew(server: Server, tmp_path: Path) -> None:
    (tmp_path / "f.part").write_bytes(CONTENT[:1234])
    assert fetch(server, "forgot", tmp_path / "f").read_bytes() == CONTENT


def test_a_stale_part_is_found_out_by_its_hash(server: Server, tmp_path: Path) -> None:
    (tmp_path / "f.part").write_bytes(b"of another file" * 10)
    with pytest.raises(NlgaugeError, match="not the published file"):
        fetch(server, "whole", tmp_path / "f")
    assert nothing_left(tmp_path / "f")


def test_an_unbroken_cutter_is_given_up_after_three_tries_and_keeps_the_part(server: Server, tmp_path: Path) -> None:
    with pytest.raises(NlgaugeError, match=r"cut after 1000 of 204800 bytes; tried 3 times.*save the file as"):
        fetch(server, "cut-always", tmp_path / "f")
    assert len(server.seen) == 3
    assert not (tmp_path / "f").exists()
    assert (tmp_path / "f.part").stat().st_size == 1000


@pytest.mark.parametrize(
    ("path", "why"), [("wrong", "not the published file"), ("longer", "longer than the published 204800")]
)
def test_another_file_is_thrown_away(server: Server, tmp_path: Path, path: str, why: str) -> None:
    with pytest.raises(NlgaugeError, match=why):
        fetch(server, path, tmp_path / "f")
    assert nothing_left(tmp_path / "f")
    assert len(server.seen) == 1


def test_a_file_that_is_gone_is_said_so_at_once(server: Server, tmp_path: Path) -> None:
    with pytest.raises(NlgaugeError, match=r"answered 404.*no longer at its origin"):
        fetch(server, "missing", tmp_path / "f")
    assert len(server.seen) == 1


@pytest.mark.parametrize("path", ["silent", "trickle"])
def test_a_slow_server_is_given_up(server: Server, tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    monkeypatch.setattr(download, "SLOWEST", len(CONTENT) * 10)
    monkeypatch.setattr(download, "TRIES", 2)
    with pytest.raises(NlgaugeError, match=r"the server is too slow.*tried 2 times"):
        fetch(server, path, tmp_path / "f")


def test_without_a_network_the_user_is_told_to_put_the_file_there(server: Server, tmp_path: Path) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(NlgaugeError, match=r"no network.*save the file as .*/f\."):
        fetch(server, "whole", tmp_path / "f")


def test_a_folder_that_cannot_be_written_is_one_line(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(NlgaugeError, match="cannot be written"):
        fetch(server, "whole", tmp_path / "file" / "f")


@pytest.mark.parametrize("path", ["../f", "a/../../f", "/etc/passwd", "a\\..\\f", "C:/f", ""])
def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(NlgaugeError, match="is outside of"):
        download.inside(tmp_path, path)


def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "link").symlink_to(tmp_path)
    with pytest.raises(NlgaugeError, match="is outside of"):
        download.inside(tmp_path / "data", "link/f")


def test_the_url_names_repository_commit_and_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLGAUGE_ORIGIN", "http://127.0.0.1:9/")
    assert (
        download.url_of(Origin("some/one", COMMIT, "a b/c.csv")) == f"http://127.0.0.1:9/some/one/{COMMIT}/a%20b/c.csv"
    )
    monkeypatch.setenv("NLGAUGE_ORIGIN", "file:///etc")
    with pytest.raises(NlgaugeError, match="expected an address with http"):
        download.url_of(Origin("some/one", COMMIT, "c.csv"))


# --- nlgauge data get ---


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, server: Server) -> Entry:
    """A set of one file that can be had and one that was repackaged."""
    monkeypatch.setenv("NLGAUGE_ORIGIN", server.url)
    files = (
        File("small/own.bin", len(CONTENT), SHA256, "bytes", Origin("someone/small", COMMIT, "data/own.bin")),
        File("small/other.bin", 3, hashlib.sha256(b"abc").hexdigest(), "bytes", extra=True),
    )
    facts = (
        "small",
        "Small",
        "dialogue",
        {"overall": "1–5"},
        "one",
        "MIT",
        "me-2026-small",
        "Me.",
        (Origin("a/b", "0123456"),),
    )
    found = Entry(*facts, files=files)
    monkeypatch.setattr(catalogue, "_found", lambda: {"small": found})
    return found


def get(*arguments: str) -> str:
    result = CliRunner().invoke(build("data"), ["data", "get", "small", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_get_downloads_what_is_the_origins_own_and_names_the_rest(small: Entry, server: Server, tmp_path: Path) -> None:
    said = get("--to", str(tmp_path))
    assert (tmp_path / "small" / "own.bin").read_bytes() == CONTENT
    assert server.seen == [(f"/someone/small/{COMMIT}/data/own.bin", None)]
    assert "downloaded:" in said
    assert "not downloadable:" in said


def test_get_does_not_fetch_twice_but_mends_a_damaged_file(small: Entry, server: Server, tmp_path: Path) -> None:
    get("--to", str(tmp_path))
    assert "already there:" in get("--to", str(tmp_path))
    assert len(server.seen) == 1
    (tmp_path / "small" / "own.bin").write_bytes(CONTENT[:-1])
    assert "downloaded:" in get("--to", str(tmp_path))
    assert (tmp_path / "small" / "own.bin").read_bytes() == CONTENT


def test_get_copies_from_a_mirror_and_checks_it(small: Entry, server: Server, tmp_path: Path) -> None:
    mirror = tmp_path / "mirror" / "small"
    mirror.mkdir(parents=True)
    (mirror / "own.bin").write_bytes(CONTENT)
    (mirror / "other.bin").write_bytes(b"abc")
    get("--to", str(tmp_path / "to"), "--mirror", str(mirror.parent))
    assert (tmp_path / "to" / "small" / "other.bin").read_bytes() == b"abc"
    assert server.seen == []
    (mirror / "own.bin").write_bytes(CONTENT[::-1])
    with pytest.raises(NlgaugeError, match="is not the file of the catalog"):
        get("--to", str(tmp_path / "again"), "--mirror", str(mirror.parent))


def test_get_of_a_set_that_no_program_can_download_says_where_it_is(tmp_path: Path) -> None:
    with pytest.raises(NeedsMissing, match=r"needs a manual download .*Yale-LILY/SummEval.* Save it as "):
        CliRunner().invoke(build("data"), ["data", "get", "summeval-17", "--to", str(tmp_path)], catch_exceptions=False)
