"""The key of an endpoint: checked when it is read, sent to nobody else, and never shown, in whatever form."""

from __future__ import annotations

import html
import json
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from test_judge_endings import nlgauge

from command import run_command
from nlgauge.errors import NlgaugeError
from nlgauge.metrics.judge.secret import Secret, find_key

Serve = Callable[..., Any]
KEY = "sk-SECRETabc123DEF456"
ODD_KEY = "sk-A/b+c=d'e\"f\\g&h<i>j%k"  # printable, and each library escapes another part of it
WORDS = ["judge", "outputs.csv", "--aspect", "coherence", "--model", "m", "--attempts", "1", "--concurrency", "2"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [f"s{i % 2},i{i // 2},output {i},article {i // 2},{1 + i % 5}" for i in range(6)]
    (tmp_path / "outputs.csv").write_text("\n".join(["system,input,output,source,coherence", *lines]) + "\n")
    return tmp_path


def assert_not_shown(text: str, *parts: str) -> None:
    for part in parts or (KEY, "SECRET", "abc123", "DEF456"):
        assert part not in text


REFUSED = {
    "two lines": (f"{KEY}\nsk-OTHER\n".encode(), "holds 2 lines"),
    "a .env file": (f"NLGAUGE_API_KEY={KEY}\nFOO=1\n".encode(), "holds 2 lines"),
    "one line of a .env file": (f"OPENAI_API_KEY={KEY}\n".encode(), "looks like a line of settings (NAME=value)"),
    "NUL at the end": (f"{KEY}\0".encode(), "holds the character U+0000 at place 22"),
    "a control character": (f"sk-\x1b[2J{KEY}".encode(), "holds the character U+001B at place 4"),
    "typographic quotes": (f"“{KEY}”".encode(), "holds the character U+201C at place 1"),
    "quotes": (f'"{KEY}"'.encode(), "is in quotation marks"),
    "a letter that is no ASCII": (f"{KEY}é".encode(), "holds the character U+00E9 at place 22"),
    "a blank inside": (f"Bearer {KEY}".encode(), "holds a blank at place 7"),
    "UTF-16": (KEY.encode("utf-16"), "is UTF-16; save the key as plain text"),
    "Latin-1": (f"{KEY}é".encode("latin-1"), "byte 22 is not UTF-8"),
    "nothing": (b"\n", "is empty, expected a key"),
    "a large file": (KEY.encode() * 1000, "has more than 16,384 bytes, so it is not a key"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_holds_more_or_less_than_a_key_is_refused_in_one_line(
    serve: Serve, folder: Path, name: str
) -> None:
    content, words = REFUSED[name]
    server = serve()
    (folder / "key.txt").write_bytes(content)
    ran = nlgauge(folder, *WORDS, "--key-file", "key.txt", "--base-url", server.base_url)
    assert ran.returncode == 2, ran.stderr
    assert ran.stderr.splitlines()[-1].startswith(
        f"nlgauge: key.txt: {'the key cannot be read (' * (name == 'Latin-1')}{words}"
    )
    assert "Traceback" not in ran.stderr
    assert_not_shown(ran.stdout + ran.stderr)
    assert "requests" not in server.log()["stats"]


@pytest.mark.parametrize("value", [f"{KEY}\nsk-OTHER", f"{KEY}\r\nX-Other: 1", f"{KEY}é", f"“{KEY}”"])
def test_a_variable_that_holds_no_key_is_refused_in_one_line(serve: Serve, folder: Path, value: str) -> None:
    server = serve()
    ran = nlgauge(folder, *WORDS, NLGAUGE_BASE_URL=server.base_url, NLGAUGE_API_KEY=value)
    assert ran.returncode == 2, ran.stderr
    assert ran.stderr.splitlines()[-1].startswith("nlgauge: NLGAUGE_API_KEY: holds ")
    assert "Traceback" not in ran.stderr
    assert_not_shown(ran.stdout + ran.stderr)
    assert "requests" not in server.log()["stats"]


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf%b", b"%b\r\n", b"  %b  \n\n"], ids=["BOM", "CRLF", "blanks around"])
def test_what_editors_put_around_a_key_is_no_part_of_it(serve: Serve, folder: Path, content: bytes) -> None:
    server = serve(key=KEY)
    (folder / "key.txt").write_bytes(content % KEY.encode())
    ran = nlgauge(folder, *WORDS, "--key-file", "key.txt", "--base-url", server.base_url, "-o", "judged.jsonl")
    assert ran.returncode == 0, ran.stderr
    assert set(server.log()["keys"]) == {f"Bearer {KEY}"}
    exported = nlgauge(folder, "cache", "export", "replies.jsonl")
    assert exported.returncode == 0, exported.stderr
    assert_not_shown(ran.stdout + ran.stderr)
    for path in folder.iterdir():
        if path.name != "key.txt":  # the store with its side files, the judged outputs, the replies
            assert KEY.encode() not in path.read_bytes(), path.name


def test_a_server_that_repeats_the_key_is_not_quoted(serve: Serve, folder: Path) -> None:
    server = serve(key="another")
    (folder / "key.txt").write_text(ODD_KEY)
    ran = nlgauge(folder, *WORDS, "--key-file", "key.txt", "--base-url", server.base_url)
    assert ran.returncode == 2 and "Incorrect API key provided: …" in ran.stderr
    assert_not_shown(ran.stdout + ran.stderr, "sk-A", "b+c", "i>j")


@pytest.mark.parametrize("key", [KEY, ODD_KEY])
@pytest.mark.parametrize(
    "write",
    [
        repr,
        lambda k: repr(k.encode()),
        lambda k: repr(repr([k.encode()])),
        json.dumps,
        lambda k: json.dumps(json.dumps({"key": k})),
        lambda k: json.dumps(k).replace("/", "\\/").replace("<", "\\u003c").replace(">", "\\u003E"),
        lambda k: quote(k, safe=""),
        quote_plus,
        lambda k: quote(quote(k)),
        lambda k: "".join(f"%{ord(c):02x}" for c in k),
        html.escape,
        lambda k: html.escape(html.escape(k)),
        lambda k: "".join(f"&#{ord(c)};" for c in k),
        lambda k: "".join(f"\\x{ord(c):02x}" for c in k),
        lambda k: "".join(f"\\u{ord(c):04X}" for c in k),
        lambda k: k.encode("unicode_escape").decode(),
    ],
)
def test_a_key_is_blotted_out_in_every_form(key: str, write: Callable[[str], str]) -> None:
    written = write(key)
    hidden = Secret(key, "a test").hide(f"before {written} after {key}")
    assert hidden.startswith("before ") and hidden.endswith(" after …")
    assert len(hidden) <= len("before  after …") + 1 + 20  # what is left are the signs around a literal
    assert not set(hidden) & set("SECRT123456ADEF")


def test_hiding_takes_time_in_proportion_to_the_text() -> None:
    secret, seconds = Secret("\\\\\\\\&&%%sk", "a test"), []
    for n in (10_000, 100_000):
        texts = [c * n for c in ("\\", "&amp;", "%25", "%2525")]
        began = time.process_time()
        for text in texts:
            secret.hide(text)
        seconds.append(time.process_time() - began)
    assert seconds[1] < 40 * max(seconds[0], 0.005), seconds


def test_a_key_cut_by_the_end_of_a_message_does_not_show_its_beginning(serve: Serve, folder: Path) -> None:
    server = serve(key="another")
    key = "sk-" + "Z" * 400  # the message is cut after 300 characters
    (folder / "key.txt").write_text(key)
    ran = nlgauge(folder, *WORDS, "--key-file", "key.txt", "--base-url", server.base_url)
    assert ran.returncode == 2
    assert_not_shown(ran.stdout + ran.stderr, "ZZZ")


def test_a_proxy_gets_nothing_that_is_for_this_machine(serve: Serve, folder: Path) -> None:
    server, proxy = serve(key=KEY), serve()
    (folder / "key.txt").write_text(KEY)
    through = f"http://127.0.0.1:{proxy.port}"
    names = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), through)
    words = [*WORDS, "--key-file", "key.txt"]
    for host in ("127.0.0.1", "localhost"):
        url = server.base_url.replace("127.0.0.1", host)
        ran = nlgauge(folder, *words, "--base-url", url, NO_PROXY="", no_proxy="", **names)
        assert ran.returncode == 0, ran.stderr
    assert server.log()["stats"]["requests"] == 12
    assert proxy.log()["stats"] == {}


def test_a_key_in_the_address_is_refused_and_not_shown(folder: Path) -> None:
    for url in (f"https://user:{KEY}@example.org/v1", f"https://example.org/v1?key={KEY}"):
        ran = nlgauge(folder, *WORDS, "--base-url", url)
        assert ran.returncode == 2 and "would be kept in the store" in ran.stderr
        assert_not_shown(ran.stdout + ran.stderr)


@pytest.mark.parametrize("path", [".", "missing.txt"])
def test_a_key_file_that_cannot_be_read_is_one_line(tmp_path: Path, path: str) -> None:
    with pytest.raises(NlgaugeError, match="the key cannot be read"):
        find_key("http://localhost/v1", tmp_path / path)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate with openssl")
def test_a_server_whose_certificate_nobody_signed_gets_no_request(tmp_path: Path) -> None:
    certificate, private = tmp_path / "certificate.pem", tmp_path / "private.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
    named = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(private), "-out", str(certificate)]
    subprocess.run(["openssl", *words.split(), *named], check=True, capture_output=True)
    requests: list[str] = []

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(self.headers["Authorization"])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"https://127.0.0.1:{server.server_port}/v1"
    (tmp_path / "o.csv").write_text("system,input,output,source\nA,1,x,y\nB,1,z,y\n")
    ran = run_command(
        "judge", "o.csv", "-j", "summarization", "--model", "m", "--base-url", address, "--attempts", "1",
        cwd=tmp_path, NLGAUGE_API_KEY="sk-mine", NLGAUGE_BASE_URL=address, NLGAUGE_STORE=str(tmp_path / "s.sqlite"),
    )  # fmt: skip
    server.shutdown()
    assert (ran.returncode, requests) == (2, [])
    assert "certificate verify failed" in " ".join(ran.stderr.split()) and "Traceback" not in ran.stderr
