"""Damage: to bytes, and to what a JSON text means."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Sequence
from typing import Any

ODD: list[Any] = [
    None,
    0,
    -1,
    3.5,
    True,
    "",
    "x",
    "4",
    "⚠ ünï",
    [],
    [None],
    [1],
    ["a", "b"],
    {},
    {"x": None},
    [[]],
    [{}],
    "a" * 200,
    1e308,
    10**400,
    float("nan"),
    float("inf"),
    -0.0,
    "\ud800",
    "\x00",
    "1e999",
    "a\nb",
    " ",
    "NaN",
    [[[[[[1]]]]]],
    {"": {"": {}}},
    "٣",
]
PIECES = [
    b",",
    b"\t",
    b'"',
    b"\n",
    b"\r",
    b"x",
    b"9",
    b"\xc3",
    b"\x00",
    b";",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"'",
    b"\\",
    b"=",
    b"-",
    b"\xed\xa0\x80",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"1e999",
    b"-1",
    b"nan",
    b"null",
    b"true",
    b":",
    b"/",
    b".",
    b" ",
    b"%",
    b"9" * 400,
    b"0" * 40,
    b"..",
    b"*",
    b"&",
    b"!!",
    b"<b>",
    b"\xd9\xa3",
    b"\xc2\xb2",
]


def mutated(seeds: Sequence[bytes], rng: random.Random, words: Sequence[bytes] = (), longest: int = 1 << 16) -> bytes:
    """A seed after some damage; now and then something made of nothing."""
    if rng.random() < 0.03 or not seeds:
        return rng.randbytes(rng.choice([0, 1, 2, 8, 64, 300]))
    data = rng.choice(seeds)
    if rng.random() < 0.5 and (changed := _meaning(data, rng)) is not None:
        data = changed
        if rng.random() < 0.8:
            return data[:longest]
    pieces = [*PIECES, *words]
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        _bytes(found, rng, pieces, seeds)
    return bytes(found[:longest])


def _bytes(found: bytearray, rng: random.Random, pieces: Sequence[bytes], seeds: Sequence[bytes]) -> None:
    at = rng.randrange(len(found) + 1)
    match rng.randrange(8):
        case 0:
            del found[at : at + rng.choice([1, 3, 40])]
        case 1 | 2 | 3:
            found[at:at] = rng.choice(pieces)
        case 4:
            found[at : at + 1] = bytes([rng.randrange(256)])
        case 5:
            end = at + rng.choice([1, 5, 40])
            found[at:at] = found[at:end] * rng.choice([1, 2, 30])
        case 6:
            other = rng.choice(seeds)
            found[at:] = other[rng.randrange(len(other) + 1) :]
        case _:
            del found[at:]


def _meaning(data: bytes, rng: random.Random) -> bytes | None:
    """A JSON or JSON-lines text with some of its values changed; None for another text."""
    try:
        text = data.decode()
        lines = "\n" in text.strip() and text.lstrip()[:1] == "{"
        content = [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, list | dict):
        return None
    for _ in range(rng.choice([1, 1, 2, 4])):
        _value(content, rng)
    whole = "\n".join(map(json.dumps, content)) if lines else json.dumps(content, ensure_ascii=rng.random() < 0.5)
    return whole.encode("utf-8", "surrogatepass")


def _value(content: Any, rng: random.Random) -> None:
    place: Any = content
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = rng.choice(keys)
        if not isinstance(place[key], list | dict) or not place[key] or rng.random() < 0.2:
            break
        place = place[key]
    what = rng.random()
    if what < 0.2:
        del place[key]
    elif what < 0.3 and isinstance(place, list):
        place.append(copy.deepcopy(place[key]))
    elif what < 0.4 and isinstance(place, dict):
        place[rng.choice([str(key) + " ", str(key).upper(), "", "x", "a.b"])] = place.pop(key)
    else:
        place[key] = copy.deepcopy(rng.choice(ODD))
