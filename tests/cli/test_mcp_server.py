"""The MCP server: its protocol line by line, and driven by the client of the official `mcp` package where it is installed."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nlgauge.cli.mcp_server import TOOLS, VERSIONS, command_of, describe

FILE = Path(__file__).resolve().parent.parent / "data" / "tracing" / "phoenix_page.json"
COMMAND = [sys.executable, "-m", "nlgauge.mcp"]


@pytest.fixture
def server() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process
    process.stdin.close()  # type: ignore[union-attr]
    assert process.wait(30) == 0


def ask(server: subprocess.Popen[str], method: str, params: Any = None, identity: int = 1) -> dict[str, Any]:
    assert server.stdin and server.stdout
    message = {"jsonrpc": "2.0", "id": identity, "method": method, **({} if params is None else {"params": params})}
    server.stdin.write(json.dumps(message) + "\n")
    server.stdin.flush()
    answer: dict[str, Any] = json.loads(server.stdout.readline())
    assert answer["jsonrpc"] == "2.0" and answer["id"] == identity
    return answer


def test_the_server_answers_the_handshake_lists_four_tools_and_refuses_other_methods(
    server: subprocess.Popen[str],
) -> None:
    for version in (*VERSIONS, "1999-01-01"):
        result = ask(server, "initialize", {"protocolVersion": version, "capabilities": {}})["result"]
        assert result["protocolVersion"] == (version if version in VERSIONS else VERSIONS[0])
    assert ask(server, "ping")["result"] == {}
    tools = ask(server, "tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == list(TOOLS)
    assert ask(server, "resources/list")["error"]["code"] == -32601
    assert ask(server, "tools/call", {"name": "rm", "arguments": {}})["error"]["code"] == -32602
    server.stdin.write("not json\n")  # type: ignore[union-attr]
    server.stdin.flush()  # type: ignore[union-attr]
    assert json.loads(server.stdout.readline())["error"]["code"] == -32700  # type: ignore[union-attr]


def test_a_gate_is_answered_with_its_exit_code_and_an_error_names_the_argument(server: subprocess.Popen[str]) -> None:
    held = ask(server, "tools/call", {"name": "gate", "arguments": {"data": str(FILE), "min": "kappa=.1"}})["result"]
    assert held["structuredContent"] == {"exit_code": 3} and held["isError"] is False
    assert "undecided" in held["content"][0]["text"]
    wrong = ask(server, "tools/call", {"name": "gate", "arguments": {"data": str(FILE), "mini": "kappa=.1"}})["result"]
    assert wrong["isError"] and "Did you mean 'min'" in wrong["content"][0]["text"]
    absent = ask(server, "tools/call", {"name": "check", "arguments": {"data": "/no/such/file.csv"}})["result"]
    assert absent["isError"] and absent["structuredContent"] == {"exit_code": 2}


def test_arguments_become_options_and_never_other_options() -> None:
    words = command_of("gate", {"data": "--out=x", "min": ["kappa=.6", "tnr=.8"], "allow_undecided": True, "looks": 3})
    assert words == ["gate", "--min=kappa=.6,tnr=.8", "--allow-undecided", "--looks=3", "--", "--out=x"]
    assert describe("gate")["inputSchema"]["properties"]["looks"]["type"] == "integer"


def test_the_client_of_the_mcp_package_calls_all_four_tools(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    file = tmp_path / "judged.csv"
    rows = [f"q{k},answer {k},{k % 3 and 1},{(k % 3 and 1) if k % 5 else k % 2}" for k in range(90)]
    file.write_text("\n".join(["id,answer,human_label,judge", *rows]) + "\n", encoding="utf-8")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    calls = {
        "check": {},
        "run": {"out": str(tmp_path / "page.html"), "quick": True},
        "estimate": {},
        "gate": {"min": "kappa=.1"},
    }

    async def drive() -> dict[str, tuple[bool, Any, str]]:
        server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=dict(os.environ))
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            assert [tool.name for tool in (await session.list_tools()).tools] == list(TOOLS)
            answers = {}
            for name, arguments in calls.items():
                result = (await session.call_tool(name, {"data": str(file), **arguments})).model_dump(by_alias=True)
                answers[name] = (result["isError"], result["structuredContent"], result["content"][0]["text"])
            return answers

    answers = asyncio.run(drive())
    assert {name: error for name, (error, _, _) in answers.items()} == dict.fromkeys(TOOLS, False)
    assert answers["gate"][1] == {"exit_code": 0} and "gate passed" in answers["gate"][2]
    assert "human_label" in answers["check"][2] and (tmp_path / "page.html").exists()
