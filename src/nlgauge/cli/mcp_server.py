"""Server of the Model Context Protocol for coding agents: four verbs as tools, over standard input and output.

    {"mcpServers": {"nlgauge": {"command": "python", "args": ["-m", "nlgauge.mcp"]}}}

The names, types and descriptions of a tool's arguments are those of its command. A call runs that command in a process
of its own, so that a long one can be canceled and nothing else is written to standard output.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import cache
from typing import Any, TextIO, get_args, get_origin

import nlgauge
from nlgauge.api.questions import question
from nlgauge.cli._generate import DATA, OWN, Option, options_of
from nlgauge.cli._program import VERBS, Verb
from nlgauge.docstrings import summary
from nlgauge.errors import NlgaugeError
from nlgauge.foreign_text import visible
from nlgauge.registry import did_you_mean

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # of the protocol, the newest first
TOOLS = {"check": ("data", "check"), "run": ("run",), "estimate": ("estimate",), "gate": ("gate",)}
SHARED = ("aspect", "metrics", "human", "labels", "columns")  # options of all commands that tools have, too
JSON_TYPES = {bool: "boolean", int: "integer", float: "number"}
USAGE, FAULT = 2, 70  # exit codes of errors; 1 and 3 are answers: failed, undecided
PARSE, NO_METHOD, BAD_PARAMS = -32700, -32601, -32602
INSTRUCTIONS = (
    "NLGauge tells which automatic metric or LLM judge agrees with human judgments, for what, and how surely. Call "
    "`check` first: it shows how each column of a file is read. Then `run` for the whole answer, `estimate` for a mean "
    "or pass rate from few human labels, `gate` to hold a judge to a minimum. What nobody declares as human is never "
    "taken as human."
)


class Refused(Exception):
    """A request that cannot be answered, with its JSON-RPC code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class ToolServer:
    """Server that reads requests line by line and answers them; calls run concurrently."""

    def __init__(self, requests: TextIO, answers: TextIO) -> None:
        self.requests, self.answers = requests, answers
        self.writing = threading.Lock()
        self.running: dict[str, subprocess.Popen[str]] = {}

    def serve(self) -> None:
        """Answer until the input ends; what still runs is then ended."""
        try:
            for line in self.requests:
                if line.strip():
                    self._take(line)
        finally:
            for process in list(self.running.values()):
                process.terminate()

    def _take(self, line: str) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._answer(None, error=Refused(PARSE, "the line is not JSON"))
            return
        for each in message if isinstance(message, list) else [message]:
            if isinstance(each, dict) and "method" in each:
                self._dispatch(each)

    def _dispatch(self, message: Mapping[str, Any]) -> None:
        method, identity = str(message["method"]), message.get("id")
        given = message.get("params")
        params: dict[str, Any] = given if isinstance(given, dict) else {}
        if method == "notifications/cancelled":
            process = self.running.get(str(params.get("requestId")))
            if process:
                process.terminate()
        elif not isinstance(identity, str | int):
            return
        elif method == "tools/call":
            threading.Thread(target=self._call, args=(identity, params), daemon=True).start()
        else:
            try:
                self._answer(identity, handle(method, params))
            except Refused as error:
                self._answer(identity, error=error)

    def _call(self, identity: Any, params: Mapping[str, Any]) -> None:
        try:
            command = command_of(str(params.get("name")), params.get("arguments") or {})
            process = subprocess.Popen(
                [sys.executable, "-m", "nlgauge", *command],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            )  # fmt: skip
        except Refused as error:
            self._answer(identity, error=error)
            return
        except (NlgaugeError, ValueError, OSError) as error:  # ValueError: a NUL or half a surrogate in an argument
            self._answer(identity, content(str(error), USAGE))
            return
        self.running[str(identity)] = process
        out, remarks = process.communicate()
        self.running.pop(str(identity), None)
        if process.returncode >= 0:  # not canceled
            self._answer(identity, content("\n".join(filter(None, (out.strip(), remarks.strip()))), process.returncode))

    def _answer(self, identity: Any, result: Any = None, error: Refused | None = None) -> None:
        body = {"error": {"code": error.code, "message": visible(str(error))}} if error else {"result": result}
        with self.writing:
            self.answers.write(json.dumps({"jsonrpc": "2.0", "id": identity, **body}) + "\n")
            self.answers.flush()


def handle(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request that runs no command."""
    if method == "initialize":
        wanted = params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "nlgauge", "version": nlgauge.__version__},
            "instructions": INSTRUCTIONS,
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [describe(name) for name in TOOLS]}
    raise Refused(NO_METHOD, f"no method '{method}'")


def content(text: str, code: int) -> dict[str, Any]:
    """Return the result of a call: what the command printed, and its exit code."""
    return {
        "content": [{"type": "text", "text": visible(text) or "done"}],
        "structuredContent": {"exit_code": code},
        "isError": code == USAGE or code >= FAULT,
    }


def describe(name: str) -> dict[str, Any]:
    """Return a tool with the schema of its arguments."""
    options = options_for(name)
    return {
        "name": name,
        "description": " ".join(summary(_function(name).__doc__ or "").split()),
        "inputSchema": {
            "type": "object",
            "properties": {key: schema_of(option) for key, option in options.items()},
            "required": [DATA],
            "additionalProperties": False,
        },
    }


def schema_of(option: Option) -> dict[str, Any]:
    """Return the JSON schema of one option, which is typed as on the command line."""
    if option.name == DATA:
        return {"type": "string", "description": "Path of a file or folder of outputs, judgments and scores."}
    words = option.more.get("metavar", "")
    kind = {"type": "string", "enum": words.strip("[]").split("|")} if words else {"type": json_type(option.type)}
    return {**kind, "description": " ".join(option.description.replace("\\[", "[").split())}


def json_type(kind: Any) -> str:
    """Return the type of a JSON value; several values are one text, separated by commas.

    >>> json_type(bool), json_type(list[str]), json_type(float)
    ('boolean', 'string', 'number')
    """
    return "string" if get_origin(kind) is list or get_args(kind) else JSON_TYPES.get(kind, "string")


def command_of(name: str, arguments: Any) -> list[str]:
    """Return the command line of a call."""
    if not isinstance(arguments, dict):
        raise Refused(BAD_PARAMS, "the arguments are not an object")
    if name not in TOOLS:
        raise Refused(BAD_PARAMS, f"no tool '{name}'.{did_you_mean(name, list(TOOLS))} Tools: {', '.join(TOOLS)}.")
    options, words = options_for(name), list(TOOLS[name])
    if not arguments.get(DATA):
        raise NlgaugeError(f"{name}: `{DATA}` is missing, the path of a file.")
    for key, value in arguments.items():
        if key not in options:
            raise NlgaugeError(f"{name}: no argument '{key}'.{did_you_mean(key, list(options))}")
        if key == DATA or value in (None, ""):
            continue
        flag = options[key].flags()[0]
        if options[key].type is bool:
            on, _, off = flag.partition("/")
            words += [on] if value is True else [off] if off else []
        else:
            words.append(f"{flag}={','.join(map(str, value)) if isinstance(value, list) else value}")
    return [*words, "--", str(arguments[DATA])]


@cache
def options_for(name: str) -> dict[str, Option]:
    """Return the options of a tool: its file, those of its own, and the shared ones that say what is human."""
    every = {option.name: option for option in options_of(_function(name))}
    own = {n: o for n, o in every.items() if n == DATA or o.panel == OWN or n == "out"}
    return own | {n: every[n] for n in SHARED if n in every}


@cache
def _function(name: str) -> Any:
    verb = Verb(inner=VERBS)
    for word in TOOLS[name]:
        verb = (verb.inner or {})[word]
    if verb.analysis:
        return question(name, companions=True)
    module, function = verb.function.split(":")
    return getattr(importlib.import_module(module), function)


def main() -> None:
    """Serve requests until standard input ends."""
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    ToolServer(sys.stdin, sys.stdout).serve()
