"""Parsing of an endpoint's answer into a Reply that can be stored, whatever the endpoint sends.

Sizes are limited before anything is read, and nesting is cut off. Only the text of the message is required: an invalid
optional field counts as unknown and never costs the rating, which has been paid for.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.judge.replies import Reply

MAX_BODY_BYTES = 8 << 20  # bytes of an answer after decompression; 512 tokens with 20 alternatives each take 1.5 MB
MAX_TEXT = 1 << 20  # characters of a message
MAX_NAME_LENGTH = 200  # characters of the model's name and other short fields
MAX_DEPTH = 50  # deeper nesting is removed
MAX_TOKENS = 10**9  # larger numbers are not token counts
MAX_INTEGER_DIGITS = 18
ENCODINGS = ("", "identity", "gzip", "x-gzip", "deflate")
JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?+|[\[{]|[\]}]|[^"\[\]{}]++', re.S)


class AnswerRefused(NlgaugeError):
    """An answer that a second attempt would not change: too large, or in an unsupported encoding."""


class BodyReader:
    """Collect the bytes of an answer and decompress them, up to a limit.

    >>> reader = BodyReader("identity")
    >>> reader.add(b'{"a": 1}')
    >>> reader.body()
    b'{"a": 1}'
    """

    def __init__(self, encoding: str, limit: int = MAX_BODY_BYTES) -> None:
        kind = encoding.strip().lower()
        if kind not in ENCODINGS:
            raise AnswerRefused(f"the response has the unexpected content encoding {kind[:20]!r}")
        self.limit = limit
        self._kind = kind
        self._unpack = None if kind in ENCODINGS[:2] else zlib.decompressobj(47)  # gzip or zlib, by its header
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes; `AnswerRefused` beyond the limit, ValueError if they cannot be unpacked."""
        if self._unpack is not None:
            try:
                data = self._unpack.decompress(data, self.limit - self._size + 1)
            except zlib.error as error:
                if self._kind != "deflate" or self._size:
                    raise ValueError(f"the answer cannot be decompressed ({error})") from None
                self._unpack = zlib.decompressobj(-15)  # deflate without a header, as some servers send it
                self._kind = "raw deflate"
                return self.add(data)
        self._size += len(data)
        if self._size > self.limit:
            raise AnswerRefused(f"the answer is larger than {self.limit >> 20} MiB")
        self._parts.append(data)
        return None

    def body(self) -> bytes:
        """Return all bytes."""
        return b"".join(self._parts)


def decode_json(raw: bytes | str) -> Any:
    """Parse JSON with any numbers, characters and nesting; raise ValueError for invalid JSON.

    >>> decode_json(b'{"a": "m\\\\ud800", "b": ' + b"9" * 5000 + b', "c": NaN}')
    {'a': 'm\\ud800', 'b': inf, 'c': nan}
    >>> decode_json('{"x": ' + "[" * 100_000 + "]" * 100_000 + ', "y": 1}')["y"]
    1
    """
    text = raw.decode("utf-8-sig", "replace") if isinstance(raw, bytes) else raw
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError:
        return json.loads(_shallow(text), parse_int=_integer)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= MAX_INTEGER_DIGITS else float(digits)


def _shallow(text: str) -> str:
    """Return the JSON with `null` in place of too deeply nested values; one pass."""
    depth, selected = 0, []
    for token in JSON_TOKEN.finditer(text):
        first = token[0][0]
        if first in "[{":
            depth += 1
            if depth == MAX_DEPTH + 1:
                selected.append("null")
        if depth <= MAX_DEPTH:
            selected.append(token[0])
        if first in "]}":
            depth -= 1
    return "".join(selected)


def storable(text: str) -> str:
    r"""Return the text with U+FFFD in place of lone surrogates, which no file or database can store.

    >>> storable("m\ud800"), storable("\ud83d\ude00") == "\U0001f600"
    ('m�', True)
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def read_reply(body: Any, seconds: float = 0.0, dropped: tuple[str, ...] = (), code: str = "") -> Reply:
    """Read the reply from the JSON of /chat/completions; ValueError if it has no message.

    Examples
    --------
    >>> read_reply({"choices": [{"message": {"content": "Rating: 4"}}], "usage": [1], "model": None}).text
    'Rating: 4'
    """
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ValueError(f"no chat completion (found {type(body).__name__} without a message)")
    text = _content(message)
    if len(text) > MAX_TEXT:
        raise AnswerRefused(f"the message has {len(text):,} characters, and at most {MAX_TEXT:,} are kept")
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Reply(
        text=storable(text),
        model=_name(body.get("model")),
        fingerprint=_name(body.get("system_fingerprint")),
        finish=_name(choice.get("finish_reason")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        seconds=seconds,
        dropped=dropped,
        logprobs=_logprobs(choice.get("logprobs")),
        code=code,
    )


def _content(message: dict[str, Any]) -> str:
    """Return the text of the message: its content, the parts of its content, a tool call, or its refusal."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [p for p in content if isinstance(p, dict) and isinstance(p.get("text"), str)]
        content = "".join(p["text"] for p in parts if p.get("type") in ("text", "output_text", None))
    if isinstance(content, dict):  # some servers answer a schema with the object itself
        return json.dumps(content, ensure_ascii=False)
    if isinstance(content, int | float) and not isinstance(content, bool):
        return str(content)
    if isinstance(content, str) and content:
        return content
    calls = message.get("tool_calls")
    call = calls[0].get("function") if isinstance(calls, list) and calls and isinstance(calls[0], dict) else None
    if isinstance(call, dict) and isinstance(call.get("arguments"), str):
        return str(call["arguments"])
    if content not in ("", None):
        raise ValueError(f"no chat completion (the message is {type(content).__name__})")
    if "content" not in message and "refusal" not in message:
        raise ValueError("no chat completion (the message has no content)")
    refusal = message.get("refusal")
    return refusal if isinstance(refusal, str) else ""


def _name(value: Any) -> str:
    return storable(value[:MAX_NAME_LENGTH]).replace("\0", "") if isinstance(value, str) else ""


def _count(value: Any) -> int:
    """Return a number of tokens; 0 (unknown) for an invalid number, so that it cannot lower the cost."""
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if usable and 0 <= value <= MAX_TOKENS else 0


def _logprobs(value: Any) -> tuple[tuple[tuple[str, float], ...], ...]:
    """Return the alternatives of each token; none where the field is invalid."""
    content = value.get("content") if isinstance(value, dict) else None
    return tuple(_alternatives(place) for place in content) if isinstance(content, list) else ()


def _alternatives(place: Any) -> tuple[tuple[str, float], ...]:
    if not isinstance(place, dict):
        return ()
    top = place.get("top_logprobs")
    return tuple(
        (storable(t["token"]), float(t["logprob"]))
        for t in (top if isinstance(top, list) and top else [place])
        if isinstance(t, dict)
        and isinstance(t.get("token"), str)
        and isinstance(t.get("logprob"), int | float)
        and not isinstance(t.get("logprob"), bool)
    )
