"""Whatever is done to a sample, a reader answers with a Dataset or with one clear line, never with a traceback."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng
from nlgauge import registry
from nlgauge.data.peek import Peek
from nlgauge.errors import NlgaugeError

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
FOLDERS = ["every_eval_ever/*_samples.jsonl", "lm_eval/*/samples_*.jsonl", "alt_test/human_*.json"]
JSON = sorted(
    str(p.relative_to(SAMPLES))
    for pattern in ("*.json", "*.jsonl", *FOLDERS)
    for p in SAMPLES.glob(pattern)
    if not p.name.startswith("plain")
)
TEXT = sorted(p.name for p in SAMPLES.iterdir() if p.suffix in (".csv", ".tsv") and not p.name.startswith("plain"))
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
]
ROUNDS = 25


def nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths to everything inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, child in inner for found in ((*path, key), *nodes(child, (*path, key)))]


def damage(content: Any, rng: random.Random) -> Any:
    for _ in range(rng.choice([1, 1, 2, 4])):
        paths = nodes(content)
        if not paths:
            return content
        *parents, last = rng.choice(paths)
        place = content
        for key in parents:
            place = place[key]
        if rng.random() < 0.25:
            del place[last]
        elif rng.random() < 0.1 and isinstance(place, list):
            place.append(copy.deepcopy(place[last]))
        else:
            place[last] = copy.deepcopy(rng.choice(ODD))
    return content


def answers(path: Path, reader: str, **options: str) -> None:
    try:
        data = ng.load(path, reader=reader, **options)
    except NlgaugeError as error:
        assert "\n" not in str(error)
        assert str(error)
    else:
        assert len(data) > 0


def reader_of(name: str) -> str:
    known = [n for n in registry.names("reader") if registry.get("reader", n).recognizes(Peek(SAMPLES / name))]
    return known[0]


@pytest.mark.parametrize("name", JSON)
def test_damaged_json_is_read_or_refused(tmp_path: Path, name: str) -> None:
    rng, reader, text = random.Random(name), reader_of(name), (SAMPLES / name).read_text(encoding="utf-8")
    options = {"task": "seq2seq"} if "seq2seq" in name else {}
    lines = name.endswith(".jsonl")
    for _ in range(ROUNDS):
        content = damage([json.loads(line) for line in text.splitlines()] if lines else json.loads(text), rng)
        whole = "".join(json.dumps(row) + "\n" for row in content) if lines else json.dumps(content)
        path = tmp_path / Path(name).name
        path.write_text(whole, encoding="utf-8")
        answers(path, reader, **options)


@pytest.mark.parametrize("name", [*TEXT, *JSON, "inspect.eval"])
def test_damaged_bytes_are_read_or_refused(tmp_path: Path, name: str) -> None:
    rng, reader, raw = random.Random(name), reader_of(name), (SAMPLES / name).read_bytes()
    for _ in range(ROUNDS):
        found = bytearray(raw)
        for _ in range(rng.choice([1, 2, 5])):
            at = rng.randrange(len(found) + 1)
            what = rng.random()
            if what < 0.4:
                del found[at : at + rng.choice([1, 3, 40])]
            elif what < 0.8:
                found[at:at] = rng.choice([b",", b"\t", b'"', b"\n", b"x", b"9", b"\xc3", b"\x00", b";", b"{"])
            else:
                found = found[: at + 1]
        path = tmp_path / Path(name).name
        path.write_bytes(bytes(found))
        answers(path, reader)
