"""Text of others leaves through one gate: no terminal, Markdown, HTML, LaTeX, spreadsheet or page obeys it.

Hostile text stands in every field of a table, and every output of `run`, `analyze`, `gate` and `data` in every format
is read for what would act.
"""

from __future__ import annotations

import csv
import io
import json
import posixpath
import re
import time
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

import nlgauge as ng
from command import run_command
from nlgauge.cli._screen import print_answer, together
from nlgauge.cli.mcp_server import ToolServer, content
from nlgauge.cli.pytest_plugin import JudgeGate
from nlgauge.data.dataset import Dataset
from nlgauge.data.services import send
from nlgauge.data.services._http import Server
from nlgauge.foreign_text import for_json, for_markdown, for_spreadsheet, for_terminal
from nlgauge.table import Cell, Layout, Table

ESCAPE = "\x1b[2J\x1b]8;;http://evil.example\x07"
CONTROLS = "\x9b31m\x7f\u202e\u2028"
MARKDOWN = "![x](http://evil.example/p.png)[a](javascript:b)@octocat #12 www.evil.example |"
MARKUP = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
TEX = r"\input{/etc/passwd}\write18{id} % $^_"
SHEET = "=HYPERLINK(0)"
HOSTILE = f"{ESCAPE}{CONTROLS} {MARKDOWN} {MARKUP} {TEX} [bold]rich[/] :warning: {{{{ 7*7 }}}}"
# What may not reach a terminal: controls except the end of a line, and characters that turn or hide text.
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\u200b\ud800-\udfff]")
FIELDS = ("metric", "aspect", "system", "input", "rater")
FORMATS = ("md", "csv", "json", "tex")


def rows() -> list[dict[str, object]]:
    """Four systems on eight inputs, rated by two annotators; every name and text is hostile."""
    return [
        {
            f"topic {MARKUP}": f"{SHEET}{ESCAPE}{i % 2}",
            "system": f"{SHEET}{HOSTILE}system{s}",
            "input": f"@{HOSTILE}input{i}",
            "rater": f"+{HOSTILE}rater{r}",
            "output": f"{SHEET}{HOSTILE} output {s} {i}",
            "source": f"-{HOSTILE} source {i}",
            f"human.{HOSTILE}aspect": 1 + (s * 2 + i * 3 + r) % 5,
            f"human.{SHEET}{HOSTILE}passes": (s + i + r) % 3 > 0,
            f"metric.{HOSTILE}metric": (7 * s + 3 * i) % 11 / 11,
            f"metric.{SHEET}{HOSTILE}judge": int((s + i) % 3 > 0),
        }
        for s in range(4)
        for i in range(8)
        for r in range(2)
    ]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "hostile.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    return path


def harmless_on_a_terminal(text: str) -> None:
    found = ACTS.search(text)
    assert found is None, ascii(text[max(0, found.start() - 60) : found.end() + 20])


class Tags(HTMLParser):
    """The elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {tag, *(name for name, _ in attrs if name.startswith("on"))}


def harmless_html(text: str) -> None:
    assert Tags(text).names <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td", "small", "br", "ul", "li"}
    harmless_on_a_terminal(text)


def harmless_markdown(text: str) -> None:
    """A real reader of Markdown finds tables, bold text and code, and what GitHub links later is broken up."""
    markdown = pytest.importorskip("markdown_it").MarkdownIt("commonmark", {"html": True}).enable("table")
    allowed = {
        "paragraph",
        "inline",
        "text",
        "softbreak",
        "hardbreak",
        "strong",
        "code_inline",
        "table",
        "thead",
        "tbody",
    }
    for token in markdown.parse(text):
        for each in (token, *(token.children or ())):
            kind = each.type.removesuffix("_open").removesuffix("_close")
            assert kind in {*allowed, "tr", "th", "td"}, (kind, text)
            if kind == "text":
                assert not re.search(r"@\w|#\d|://|www\.", each.content), each.content
    harmless_on_a_terminal(text)


def harmless_tex(text: str) -> None:
    """Only commands that the writer knows, no bracket that a line or rule above would take for its option, and comments
    that stay comments."""
    known = {
        "usepackage", "begin", "end", "centering", "small", "footnotesize", "sisetup", "setlength", "tabcolsep",
        "resizebox", "textwidth",
        "toprule", "midrule", "bottomrule", "cmidrule", "multicolumn", "caption", "label", "textbf", "bfseries",
        "textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "dots", "textsuperscript",
        "textdagger", "textdaggerdbl",
    }  # fmt: skip
    used = set(re.findall(r"\\([a-zA-Z]+)", text)) - known
    assert used <= {"rho", "tau", "kappa", "alpha", "times", "pm", "leq", "geq", "downarrow", "approx", "neq", "cdot"}
    assert not re.search(r"(\\\\|rule)\s*[\[*]", text)
    assert set(re.findall(r".*\\resizebox.*", text)) <= {r"  \resizebox{\textwidth}{!}{%"}
    outside = re.sub(r"\\begin\{(table\*?)\}.*?\\end\{\1\}", "", text, flags=re.S)
    assert all(line.startswith("%") for line in outside.splitlines() if line.strip()), outside
    harmless_on_a_terminal(text)


def harmless_csv(text: str) -> None:
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            number = re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?", cell)
            assert number or not cell.startswith(("=", "+", "-", "@", "\t", "\r")), cell[:80]
    harmless_on_a_terminal(text)


def harmless_json(text: str) -> None:
    json.loads(text)
    harmless_on_a_terminal(text)


READ = {"md": harmless_markdown, "csv": harmless_csv, "json": harmless_json, "tex": harmless_tex}
COMMANDS = {
    "correlate": ("analyze", "correlate"),
    "agreement": ("analyze", "agreement"),
    "verdicts": ("analyze", "verdicts", "--aspect", f"{SHEET}{HOSTILE}passes"),
    "by topic": ("analyze", "correlate", "--by", f"topic {MARKUP}"),
    "gate": ("gate", "--min", "input/kendall=.2"),
    "check": ("data", "check"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_output_of_a_command_acts(name: str, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = COMMANDS[name]
    at = 2 if words[0] in ("analyze", "data") else 1
    tables: list[Table] = []

    def noted(answer: Any, *more: Any, **named: Any) -> None:
        tables.extend(answer.tables if hasattr(answer, "tables") else answer if isinstance(answer, list) else [answer])
        print_answer(answer, *more, **named)

    monkeypatch.setattr("nlgauge.cli._generate.print_answer", noted)
    done = run_command(*words[:at], table, *words[at:], COLUMNS="200")
    assert done.returncode in (0, 1, 3), done.stderr[-600:]
    assert "evil" in done.stdout
    harmless_on_a_terminal(done.stdout + done.stderr)
    assert tables
    for form in FORMATS:  # as `-f` and `-o` write them
        READ[form](together(tables, form))


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_acts_on_the_screen_or_in_a_file(form: str, table: Path, tmp_path: Path) -> None:
    done = run_command("data", "check", table, "-f", form)
    READ[form](done.stdout)
    run_command("data", "check", table, "-o", tmp_path / f"out.{form}")
    READ[form]((tmp_path / f"out.{form}").read_text(encoding="utf-8"))


@pytest.mark.parametrize("words", [("--no-such",), ("--human", "no\x1b[2J"), ("--metrics", "\x9b31m")])
def test_no_refusal_acts(words: tuple[str, ...], table: Path) -> None:
    done = run_command("analyze", "correlate", table, *words)
    assert done.returncode == 2
    harmless_on_a_terminal(done.stderr)


def test_no_output_of_a_run_acts(table: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run_command("run", table, "-o", page, "--quick")
    assert done.returncode == 0, done.stderr[-600:]
    harmless_on_a_terminal(done.stdout + done.stderr)
    text = page.read_text(encoding="utf-8")
    assert "<img" not in text.split("plotly")[0] and MARKUP not in text
    harmless_json(next(tmp_path.glob("*.results.json")).read_text(encoding="utf-8"))


def test_a_converted_table_keeps_its_texts_and_says_what_a_spreadsheet_would_run(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    done = run_command("data", "convert", table, "-o", out)
    assert done.returncode == 0, done.stderr
    assert "a spreadsheet may run them as formulas" in " ".join((done.stdout + done.stderr).split())
    harmless_on_a_terminal(done.stdout + done.stderr)
    assert ng.load(out).systems == ng.load(table).systems


def planted() -> Table:
    """A table with hostile text in every field."""
    cell = Table("t", [{"x": 1.0}])
    return Table(
        title=HOSTILE,
        rows=[
            {
                f"{SHEET}{HOSTILE}": f"{SHEET}{HOSTILE}{k}",
                **dict.fromkeys(FIELDS, f"{sign}{HOSTILE}"),
                "value": k / 9,
                "reason": f"{sign} {HOSTILE}",
            }
            for k, sign in enumerate(("=", "+", "-", "@", "\t", "\r", "[m", "* x", "# x", "1. x", "> x"))
        ],
        method=HOSTILE,
        notes=[f"# {HOSTILE}", f"- {HOSTILE}", f"1. {HOSTILE}", f"`{HOSTILE}", f"    {HOSTILE}", "==="],
        signature=HOSTILE,
        definitions={HOSTILE: HOSTILE},
        headlines=[HOSTILE],
        answers=[HOSTILE],
        heads={"value": HOSTILE},
        facts={HOSTILE: HOSTILE, "table": cell.title},
    )


@pytest.mark.parametrize("matrix", [False, True], ids=["list", "matrix"])
def test_no_field_of_a_table_acts_in_any_format(matrix: bool) -> None:
    made = planted()
    if matrix:
        made.layout = Layout("reason", "metric", "value", extra={HOSTILE: lambda _: Cell(HOSTILE)})
    for width in (40, 80, 400):
        screen = Console(width=width, no_color=True, file=io.StringIO(), highlight=False)
        screen.print(made)
        harmless_on_a_terminal(screen.file.getvalue())  # type: ignore[attr-defined]
    harmless_markdown(made.to_markdown())
    harmless_html(made._repr_html_())
    harmless_tex(made.to_latex())
    harmless_csv(made.to_csv())
    harmless_json(made.to_json())


def test_a_data_set_in_a_notebook_does_not_act(table: Path) -> None:
    data: Dataset = ng.load(table, name=HOSTILE)
    harmless_html(data._repr_html_())
    harmless_on_a_terminal(repr(data))


def test_no_answer_to_an_agent_acts_and_senseless_calls_are_answered() -> None:
    """A call that raised in its thread, or a line that ended the server, left the agent waiting."""
    harmless_json(json.dumps(content(HOSTILE, 0), ensure_ascii=False))
    calls = (
        {"name": HOSTILE, "arguments": {}},
        {"name": "gate", "arguments": {"data": "t.csv", HOSTILE: 1}},
        {"name": "gate", "arguments": {"data": "a\0b"}},
        {"name": "gate", "arguments": {"data": "a\ud800b"}},
        {"name": "gate", "arguments": [HOSTILE]},
    )
    lines = [{"method": "tools/call", "id": k, "params": call} for k, call in enumerate(calls)]
    others = [{"method": "ping", "id": [1]}, {"method": "notifications/cancelled", "params": {"requestId": [1]}}]
    requests = "".join(json.dumps(line) + "\n" for line in [*others, *lines]) + "[" * 100_000 + "\n"
    answers = io.StringIO()
    ToolServer(io.StringIO(requests), answers).serve()
    deadline = time.monotonic() + 20
    while answers.getvalue().count("\n") < len(calls) + 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert answers.getvalue().count("\n") == len(calls) + 1
    for line in answers.getvalue().splitlines():
        harmless_json(line)


def test_no_result_in_a_service_acts_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []

    def post(self: Server, path: str, body: dict[str, Any]) -> dict[str, Any]:
        sent.append(body)
        return {"run": {"info": {"run_id": "r"}}}

    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:1")
    monkeypatch.setattr(Server, "post", post)
    monkeypatch.setattr(Server, "get", lambda *_, **__: {"experiment": {"experiment_id": "1"}})
    names = [f"{HOSTILE}/value", "a*/value", "a?/value", "../x//y/", "x" * 300 + "1", "x" * 300 + "2"]
    send("mlflow://e", {name: float(k) for k, name in enumerate(names)}, [], {"data": HOSTILE, "answer": HOSTILE})
    metrics = [metric for body in sent for metric in body.get("metrics", ())]
    assert sorted(metric["value"] for metric in metrics) == [0, 1, 2, 3, 4, 5]
    keys = [metric["key"] for metric in metrics]
    assert len(set(keys)) == len(keys)
    assert all(re.fullmatch(r"[/\w.\- :]{1,250}", key) and posixpath.normpath(key) == key for key in keys)
    for body in sent:
        harmless_on_a_terminal("".join(tag["value"] for tag in body.get("tags", ())) + body.get("run_name", ""))


def test_no_failure_of_the_pytest_plugin_acts(table: Path) -> None:
    config = cast(pytest.Config, SimpleNamespace(getoption=lambda _: "fail", getini=lambda _: "fail"))
    cases: list[dict[str, Any]] = [{"min": "kappa=2"}, {"min": "kappa=.9", "aspect": f"{SHEET}{HOSTILE}passes"}]
    for options in [*cases, {"human": HOSTILE}]:
        with pytest.raises(pytest.fail.Exception) as failed:
            JudgeGate(config, table.parent)(table.name, options.pop("min", None), **options)
        harmless_on_a_terminal(str(failed.value))


def test_what_is_not_hostile_leaves_as_it_came() -> None:
    for text in ("gpt-4o_mini", "bleu(order=2)", "-.500", "é ü 中文 😀 👨‍👩‍👧", "F1@k", "می‌خواهم"):
        assert for_terminal(text) == text
        assert for_json(text) == text
    assert [for_spreadsheet(text) for text in ("-.5", "+1,000", "1e-3", "bleu", "")] == [
        "-.5",
        "+1,000",
        "1e-3",
        "bleu",
        "",
    ]
    assert for_markdown("a `b_c` and d_e, p < .05") == "a `b_c` and d_e, p &lt; .05"
    assert json.loads(for_json(json.dumps(HOSTILE, ensure_ascii=False))) == HOSTILE
