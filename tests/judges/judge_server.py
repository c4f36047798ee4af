"""A judge to test against: a real server on loopback that speaks /v1/chat/completions, well or badly.

`python judge_server.py '{"faults": {"429": 0.1, "drop": 0.05}, "latency": 0.01, "port": 0}'` prints its port. The reply
to a prompt depends on the prompt alone (`says`: always this; of several, one after the other); faults depend on the
prompt and on how often it was asked, so that patience helps. GET /log tells what was asked, with `bodies` word for
word; POST /set changes the settings.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import math
import re
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

SETTINGS: dict[str, Any] = {
    "faults": {}, "latency": 0.0, "port": 0, "logprobs": True, "refuse": [], "key": None, "replay": None, "most": 2,
    "to": "", "after": None, "says": None, "bodies": False, "odd": {}, "obeys": None,
}  # fmt: skip
SEEN: Counter[str] = Counter()
STATS: Counter[str] = Counter()
KEYS: Counter[str] = Counter()  # what stood in Authorization
BODIES: list[dict[str, Any]] = []
REPLAY: dict[tuple[str, str], str] = {}


def chance(*parts: object) -> float:
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=6).digest(), "big") / 2**48


def rating(prompt: str) -> int:
    if SETTINGS["obeys"] is not None:  # a judge that gives 2, and 5 where a text asks for it in these words
        return 5 if any(words in prompt for words in SETTINGS["obeys"]) else 2
    return 1 + int(chance("rating", bare(prompt)) * 5)


def told(prompt: str) -> str:
    """What the judge says."""
    if isinstance(SETTINGS["says"], list):
        mark = hashlib.blake2b(bare(prompt).encode(), digest_size=8).hexdigest()
        return str(SETTINGS["says"][(SEEN[mark] - 1) % len(SETTINGS["says"])])
    if SETTINGS["says"]:
        return str(SETTINGS["says"])
    if SETTINGS["replay"]:
        aspect = re.search(r"# Criterion: (\w+)", prompt)
        output = re.search(r"## Summary\n(.*?)\n</judged", prompt, re.S)
        return REPLAY.get((aspect[1], output[1]), "no such reply") if aspect and output else "no such prompt"
    if '"ITEM' in prompt:
        return "\n".join(
            f"A reason.\nITEM{code(prompt)}: {k} {'met' if met else 'not met'}" for k, met in verdicts(prompt).items()
        )
    if "## Text A" in prompt or '"BETTER' in prompt:
        a, b = re.search(r" A\n(.*?)\n\n##", prompt, re.S), re.search(r" B\n(.*?)\n</judged", prompt, re.S)
        first, second = (rating(m[1]) if m else 3 for m in (a, b))
        return f"They differ.\nBETTER{code(prompt)}: " + ("tie" if first == second else "A" if first > second else "B")
    return f"It has strengths and 17 weaknesses.\nRATING{code(prompt)}: {rating(prompt)}"


def code(prompt: str) -> str:
    """The code that the prompt asks for, with its dash; '' for none."""
    asked = re.search(r'"(?:RATING|BETTER|ITEM)(-[0-9a-f]{4}):"', prompt)
    return asked[1] if asked else ""


def verdicts(prompt: str) -> dict[int, bool]:
    """The number of each criterion, and whether the judged text meets it."""
    listed = prompt.partition("# Criteria\n")[2].partition("\n\n#")[0]
    judged = bare(prompt).partition("<judged>\n")[2]
    items = (line.partition(". ") for line in listed.splitlines())
    return {int(number): chance("item", text, judged) < 0.6 for number, _, text in items}


def bare(prompt: str) -> str:
    """The prompt without its code, on which replies and faults depend."""
    return prompt.replace(code(prompt) or "\0", "")


def completion(body: dict[str, Any]) -> dict[str, Any]:
    prompt = body["messages"][-1]["content"]
    text = told(prompt)
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    if "response_format" in body:
        items = [{"item": k, "reason": "so", "met": met} for k, met in verdicts(prompt).items()]
        rated = {"analysis": "fine", "rating": rating(prompt)}
        choice["message"]["content"] = json.dumps({"items": items} if '"ITEM' in prompt else rated)
    if body.get("logprobs") and SETTINGS["logprobs"]:
        k = rating(prompt)
        tops = [{"token": str(k), "logprob": math.log(0.6)}, {"token": str(k % 5 + 1), "logprob": math.log(0.3)}]
        choice["message"]["content"] = str(k)
        choice["logprobs"] = {"content": [{"token": str(k), "logprob": math.log(0.6), "top_logprobs": tops}]}
    return {
        "id": "x",
        "object": "chat.completion",
        "model": body["model"] + "-0001",
        "system_fingerprint": "fp_test",
        "choices": [choice],
        "usage": {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4, "total_tokens": 0},
    }


def fault(prompt: str, times: int) -> str:
    """Which fault this request meets; none after `most` times, so that all get through in the end."""
    if times >= SETTINGS["most"]:
        return ""
    drawn, edge = chance("fault", bare(prompt), times), 0.0
    for name, share in SETTINGS["faults"].items():
        edge += share
        if drawn < edge:
            return str(name)
    return ""


def packed(status: int, body: bytes, kind: str = "application/json", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def error(status: int, words: str, more: str = "") -> bytes:
    return packed(status, json.dumps({"error": {"message": words}}).encode(), more=more)


def odd_answer(kind: str, prompt: str) -> bytes:
    """A good answer ("Rating: 4") with one thing in it that is odd."""
    if kind == "bomb":
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        zeros = b"0" * (1 << 20)
        body = packer.compress(b'{"x": "') + b"".join(packer.compress(zeros) for _ in range(300)) + packer.flush()
        return packed(200, body, more="Content-Encoding: gzip\r\n")
    usage, model, choice_more, more = '{"prompt_tokens": 7, "completion_tokens": 3}', '"m"', "", ""
    if kind == "surrogate":
        model = '"m\\ud800"'
    elif kind == "count":
        usage = f'{{"prompt_tokens": {2**63}}}'
    elif kind == "negative":
        usage = '{"prompt_tokens": -1000000, "completion_tokens": -5}'
    elif kind == "list":
        usage = "[1]"
    elif kind == "nan":
        usage = '{"prompt_tokens": NaN}'
    elif kind == "digits":
        usage = f'{{"prompt_tokens": {"9" * 5000}}}'
    elif kind == "deep":
        more = ', "extra": ' + "[" * 100_000 + "]" * 100_000
    elif kind == "logprob":
        choice_more = ', "logprobs": {"content": [{"token": "4", "logprob": null}]}'
    elif kind == "logprobs":
        choice_more = ', "logprobs": {"content": "x"}'
    elif kind == "text":
        prompt = "\\udc00"
    text = f"Rating{code(prompt)}: 4" + (prompt if kind == "text" else "")
    choice = f'{{"message": {{"content": "{text}"}}{choice_more}}}'
    return packed(200, f'{{"choices": [{choice}], "model": {model}, "usage": {usage}{more}}}'.encode())


async def answer(body: dict[str, Any], headers: dict[str, str], writer: asyncio.StreamWriter) -> bool:
    """Writes the answer; False when the line was cut."""
    prompt = body["messages"][-1]["content"]
    mark = hashlib.blake2b(bare(prompt).encode(), digest_size=8).hexdigest()
    bad = fault(prompt, SEEN[mark])
    SEEN[mark] += 1
    STATS["requests"] += 1
    if SETTINGS["bodies"]:
        BODIES.append(body)
    KEYS[headers.get("authorization", "")] += 1
    if SETTINGS["after"] is not None and STATS["good"] >= SETTINGS["after"]:
        bad = next(iter(SETTINGS["faults"]), "")  # all is well until so many were answered
    elif SETTINGS["after"] is not None:
        bad = ""
    STATS[bad or "good"] += 1
    if SETTINGS["latency"]:
        await asyncio.sleep(SETTINGS["latency"] * (0.5 + chance("latency", prompt)))
    if SETTINGS["key"] and headers.get("authorization") != f"Bearer {SETTINGS['key']}":
        writer.write(error(401, f"Incorrect API key provided: {headers.get('authorization', '')[7:]}"))
        return True
    refused = [name for name in SETTINGS["refuse"] if name in body]
    if refused:
        writer.write(error(400, f"Unsupported parameter: '{refused[0]}' is not supported with this model."))
        return True
    for words, kind in SETTINGS["odd"].items():
        if words in prompt and kind == "endless":
            writer.write(b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
                await writer.drain()
        if words in prompt:
            writer.write(odd_answer(kind, prompt))
            return True
    good = packed(200, json.dumps(completion(body)).encode())
    if bad == "429":
        writer.write(error(429, "Rate limit reached", more="Retry-After: 0.05\r\n"))
    elif bad == "quota":
        writer.write(error(429, "You exceeded your current quota, please check your plan and billing details."))
    elif bad == "later":
        writer.write(error(429, "Rate limit reached", more="Retry-After: 7200\r\n"))
    elif bad == "402":
        writer.write(error(402, "Insufficient balance"))
    elif bad == "400":
        writer.write(error(400, "this model does not chat"))
    elif bad == "redirect":
        writer.write(packed(307, b"", more=f"Location: {SETTINGS['to']}/chat/completions\r\n"))
    elif bad == "500":
        writer.write(packed(500, b"<html>oh no</html>", "text/html"))
    elif bad == "drop":
        writer.close()
        return False
    elif bad == "half":
        body_ = good.partition(b"\r\n\r\n")[2]
        writer.write(packed(200, body_[: len(body_) // 2]))
    elif bad == "html":
        writer.write(packed(200, b"<html>please log in</html>", "text/html"))
    elif bad == "drip":
        for k in range(0, len(good), max(1, len(good) // 8)):
            writer.write(good[k : k + max(1, len(good) // 8)])
            await writer.drain()
            await asyncio.sleep(0.01)
    elif bad == "hang":
        await asyncio.sleep(30)
    else:
        writer.write(good)
    return True


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
            raw = await reader.readexactly(int(headers.get("content-length", 0)))
            method, path, _ = head[0].split(" ")
            if path == "/log":
                writer.write(
                    packed(200, json.dumps({"seen": SEEN, "stats": STATS, "keys": KEYS, "bodies": BODIES}).encode())
                )
            elif path == "/set":
                SETTINGS.update(json.loads(raw))
                writer.write(packed(200, b"{}"))
            elif method == "POST" and path == "/v1/chat/completions":
                if not await answer(json.loads(raw), headers, writer):
                    return
            else:
                writer.write(error(404, f"no such path: {path}"))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def load_replay(settings: dict[str, str]) -> None:
    """Real replies of one judge on SummEval, by aspect and output."""
    with gzip.open(settings["replies"], "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    with Path(settings["outputs"]).open(encoding="utf-8") as file:
        outputs = {(r["doc_id"], r["system"]): r["decoded"] for r in map(json.loads, file)}
    for r in rows:
        if r["evaluator"] == settings["evaluator"] and r["method"] == settings["method"]:
            REPLAY.setdefault((r["aspect"], outputs[r["id"], r["system"]]), r["resp"])


async def main() -> None:
    SETTINGS.update(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {})
    if SETTINGS["replay"]:
        load_replay(SETTINGS["replay"])
    server = await asyncio.start_server(serve, "127.0.0.1", SETTINGS["port"], limit=2**24, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
