"""The walks of architecture.md, traced from real runs: `python docs/walk.py` writes them into the page.

A walk follows one value through a run in one thread. The value is put into the input such that nothing else equals it.
A function of nlgauge is in the walk if it received the value, or an object that contains it, and returned a new
object that contains it; functions that only read the value, or pass on an object or a part of it, are not. Analyses and sections
that are not about the value are left out. Functions are in the order of their first such call.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE / "architecture.md"
EXAMPLES = HERE.parent / "examples"
MAX_DEPTH = 5  # of objects in objects
MAX_ITEMS = 300  # of a list


@dataclasses.dataclass(frozen=True)
class Walk:
    """A walk: its heading, edits of an example file, the command, what is followed, and what is not about it."""

    heading: str
    source: str
    edits: tuple[tuple[str, str, int], ...]  # in the source: a text, its replacement, how often (-1: everywhere)
    command: tuple[str, ...]
    texts: tuple[str, ...]  # the value as text
    end: str  # the function with which the walk ends
    numbers: tuple[float, ...] = ()
    goes_on: Callable[[], tuple[str, float]] | None = None  # text and number of what is made of the value
    about: tuple[str, ...] = ()  # files of analyses, sections and figures that are about the value


def interval_of() -> tuple[str, float]:
    """The interval that is made of a rating, as the page shows it: the first one of its first sentence."""
    from nlgauge.report.sections.words import ci

    results = json.loads(Path("page.results.json").read_text(encoding="utf-8"))
    first = results["answer"]["aspects"][0]["metrics"][0]
    value, low, high = first["value"], first["low"], first["high"]
    return ci(value, low, high).partition(" ")[2], low


def score_of() -> tuple[str, float]:
    """The score of the followed text."""
    line = next(line for line in Path("scored.jsonl").read_text(encoding="utf-8").splitlines() if "zyxwvut" in line)
    score = json.loads(line)["scores"]["perplexity(lm='trigram')"]
    return str(score), score


def recall_of() -> tuple[str, float]:
    """The recall that rests on the followed label."""
    value = json.loads(Path("gate.json").read_text(encoding="utf-8"))["tables"][0]["rows"][0]["value"]
    return str(value), value


WALKS = (
    Walk(
        "A rating, to its interval on the page",
        "mine.csv",
        (("t5,d2,4,", "t5,d2,3.14159265,", 1),),
        ("run", "mine.csv", "--quick", "-o", "page.html"),
        ("3.14159265",),
        "report/page.py:page_of",
        (3.14159265,),
        interval_of,
        ("analyses/comparing/compare.py", "report/sections/agreeing.py"),
    ),
    Walk(
        "A text, to its stored score",
        "judged.csv",
        (("Answer 2 about delivery time.", "Answer 2 about a zyxwvut delivery.", 1),),
        ("score", "judged.csv", "--metrics", "perplexity(lm='trigram')", "-o", "scored.jsonl"),
        ("zyxwvut",),
        "",
        goes_on=score_of,
    ),
    Walk(
        "A label, to the exit code of gate",
        "judged.csv",
        ((",pass\n", ",8\n", -1), (",fail\n", ",2\n", -1), (",2\n", ",3.14159265\n", 1)),
        ("gate", "judged.csv", "--min", "tnr=.8", "--human-pass-from", "5", "-o", "gate.json"),
        ("3.14159265",),
        "cli/_screen.py:finish",
        (3.14159265,),
        recall_of,
        ("analyses/verdicts/",),
    ),
)


def parts_of(value: Any) -> Iterator[Any]:
    """What an object holds: items, fields, columns."""
    if isinstance(value, dict):
        yield from list(value.values())[:MAX_ITEMS]
    elif isinstance(value, list | tuple | set | frozenset):
        yield from list(value)[:MAX_ITEMS]
    elif type(value).__module__.startswith("nlgauge") and not isinstance(value, type):
        for name in (*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())):
            yield getattr(value, name, None)


class Tracer:
    """Listens to a run and keeps the functions of the walk."""

    def __init__(self, walk: Walk) -> None:
        self.walk, self.seen = walk, {}
        self.memo: dict[int, tuple[Any, bool]] = {}
        self.open: dict[int, list[Any]] = {}
        self.known: dict[int, Any] = {}  # objects that functions returned before
        self.listed: set[int] = set()  # and those for which one of them is in the walk
        self.ended = False

    def holds(self, value: Any, depth: int = MAX_DEPTH) -> bool:
        if value is None or isinstance(value, bool | type) or depth < 0:
            return False
        if isinstance(value, str):
            return any(text in value for text in self.walk.texts)
        if isinstance(value, bytes):
            return any(text.encode() in value for text in self.walk.texts)
        if isinstance(value, int | float):
            return float(value) in self.walk.numbers
        kind = type(value).__module__.partition(".")[0]
        if kind in ("numpy", "polars"):
            return self._holds_array(value)
        return any(self.holds(part, depth - 1) for part in parts_of(value))

    def _holds_array(self, value: Any) -> bool:
        known = self.memo.get(id(value))
        if known is None:
            known = self.memo[id(value)] = value, self._look(value)
        return known[1]

    def _look(self, value: Any) -> bool:
        import numpy as np
        import polars as pl

        if isinstance(value, pl.DataFrame):
            return any(self._look(column) for column in value.get_columns())
        if isinstance(value, pl.Series):
            if value.dtype == pl.String:
                return any(value.str.contains(text, literal=True).any() for text in self.walk.texts)
            return value.dtype.is_numeric() and self._look(value.cast(pl.Float64).drop_nulls().to_numpy())
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return bool(np.isin(value, self.walk.numbers).any())
        return isinstance(value, np.floating) and float(value) in self.walk.numbers

    def __call__(self, frame: FrameType, event: str, result: Any) -> None:
        code = frame.f_code
        if "/nlgauge/" not in code.co_filename or event not in ("call", "return"):
            return
        if event == "call":
            count = code.co_argcount + code.co_kwonlyargcount
            count += bool(code.co_flags & 4) + bool(code.co_flags & 8)  # *args, **kwargs
            self.open.setdefault(id(frame), [frame.f_locals.get(name) for name in code.co_varnames[:count]])
            return
        given = self.open.pop(id(frame), [])
        if self.ended or code.co_name.startswith("<") or not self._is_about(frame) or not self.holds(result):
            return
        holding = [each for each in given if self.holds(each)]
        if not holding and id(result) in self.known:
            return
        if holding and not any(self._is_linked(each) for each in holding):
            return  # it came another way, as by an analysis that is not about it
        before = [each for value in holding for each in self.forms(value)]
        types = {type(each) for each in before}
        inner = {id(part) for each in before for field in parts_of(each) for part in (field, *parts_of(field))}
        for each in self.forms(result):
            if id(each) not in self.listed | inner and type(each) not in types:
                self.seen.setdefault(name_of(frame))
                self.listed.add(id(each))
            elif any(id(one) in self.listed for one in before):
                self.listed.add(id(each))  # another one of a type that the walk has reached
            self.known[id(each)] = each
        self.known[id(result)] = result
        self.ended |= name_of(frame) == self.walk.end

    def forms(self, value: Any) -> list[Any]:
        """Return the objects that contain the value; a list, tuple or dictionary counts as its parts."""
        if isinstance(value, dict | list | tuple):
            return [form for part in parts_of(value) if self.holds(part) for form in self.forms(part)]
        return [value]

    def _is_linked(self, value: Any, depth: int = MAX_DEPTH) -> bool:
        """Whether an object, or a part of it, was returned on the walk; a text or a number is its own link."""
        if id(value) in self.known or isinstance(value, str | float):
            return True
        return depth > 0 and any(self._is_linked(part, depth - 1) for part in parts_of(value) if self.holds(part))

    def _is_about(self, frame: FrameType | None) -> bool:
        while frame is not None:
            file, _, function = name_of(frame).partition(":")
            if (file, function) == ("session.py", "ask"):
                return True  # an answer is computed for whoever asks first
            inner = re.match(r"analyses/\w+/|report/(sections|figures)/\w", file)
            if inner and not file.startswith(self.walk.about) and not file.endswith("__init__.py"):
                return False
            frame = frame.f_back
        return True


def name_of(frame: FrameType) -> str:
    file = frame.f_code.co_filename.rpartition("/nlgauge/")[2]
    return f"{file}:{frame.f_code.co_name}"


def trace(walk: Walk) -> list[str]:
    """Run the command of a walk in this process, in one thread, and return its functions."""
    os.cpu_count = lambda: 1
    if walk.goes_on:
        text, value = walk.goes_on()
        walk = dataclasses.replace(walk, texts=(*walk.texts, text), numbers=(*walk.numbers, value))
    tracer = Tracer(walk)
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    from nlgauge.cli import main

    sys.argv = ["nlgauge", *walk.command]
    try:
        main()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(tracer.seen)


def walked(walk: Walk) -> list[str]:
    """Trace a walk in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        text = (EXAMPLES / walk.source).read_text(encoding="utf-8")
        for edit in walk.edits:
            text = text.replace(*edit)
        Path(folder, walk.source).write_text(text, encoding="utf-8")
        first = [sys.executable, "-m", "nlgauge", *walk.command]  # its results say what is made of the value
        for k, command in enumerate((first, [sys.executable, __file__, "trace", str(WALKS.index(walk))])):
            store = {**os.environ, "NLGAUGE_STORE": str(Path(folder, f"scores{k}.sqlite"))}
            run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=store)
            if run.returncode not in (0, 1):  # 1: the gate failed
                raise RuntimeError(run.stderr)
    return list(json.loads(run.stdout.splitlines()[-1]))


def page() -> str:
    """The page with the functions of all walks."""
    text = PAGE.read_text(encoding="utf-8")
    for walk in WALKS:
        head, heading, rest = text.partition(f"## {walk.heading}\n")
        intro, _, tail = rest.partition("\n## ")
        intro = re.split(r"\n1\. ", intro)[0].rstrip("\n")
        steps = "\n".join(f"{k}. `{step}`" for k, step in enumerate(walked(walk), 1))
        text = f"{head}{heading}{intro}\n\n{steps}\n\n## {tail}"
    return text


if __name__ == "__main__":
    if sys.argv[1:2] == ["trace"]:
        print("\n" + json.dumps(trace(WALKS[int(sys.argv[2])])))
    else:
        PAGE.write_text(page(), encoding="utf-8")
