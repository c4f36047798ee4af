"""How messages name options, and the grammar of `--columns`."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.errors import NlgaugeError
from nlgauge.options import LABELED, ONE_COLUMN, command_line, option, parse_columns, write_columns
from source_tree import nodes

SOURCE = Path(__file__).resolve().parent.parent / "src" / "nlgauge"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# Options of other programs.
OTHERS = {"--no-deps", "--force-reinstall", "--no-binary", "--inplace"}


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("system=model,input=doc", {"system": "model", "input": "doc"}),
        ("human=coherence+fluency", {"human": ["coherence", "fluency"]}),
        ("human=+c", {"human": ["+c"]}),
        ("human=", {"human": []}),
        ("human.quality=r1+r2,human=style", {"human": {"quality": ["r1", "r2"], "": ["style"]}}),
        ("human=style,human.quality=r1", {"human": {"": ["style"], "quality": ["r1"]}}),
        ("values.so so=2,values.bad=1", {"values": {"so so": "2", "bad": "1"}}),
        ("human='a,b'+\"c+d\"", {"human": ["a,b", "c+d"]}),
        ("human='it''s'", {"human": ["it's"]}),
        ("human=Your rating (1-5, whole)", {"human": ["Your rating (1-5, whole)"]}),
        ("system=people's choice", {"system": "people's choice"}),
        ("reader=mt-metrics-eval(lp='en-de')", {"reader": "mt-metrics-eval(lp='en-de')"}),
        ("input=a=b", {"input": "a=b"}),
        (" system = model , ", {"system": "model"}),
    ],
)
def test_a_text_says_which_column_is_which(text: str, roles: dict[str, object]) -> None:
    assert parse_columns(text) == roles


NAMES = st.text(st.sampled_from("ab .,+=\"'()[]é"), min_size=1, max_size=8).filter(
    lambda name: not name.startswith("+") and name.strip()
)


@given(one=NAMES, several=st.lists(NAMES, min_size=1, max_size=3, unique=True), label=NAMES, more=st.booleans())
def test_any_names_are_read_back(one: str, several: list[str], label: str, more: bool) -> None:
    roles = {"system": one, "lower": several, "human": {label: [f"+{n}" for n in several] if more else several}}
    assert parse_columns(write_columns(roles)) == roles


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("human=coherence,fluency", "found 'fluency', expected role=column"),
        ("humans=coherence", "no role 'humans'. Did you mean 'human' or 'human_systems'?"),
        ("system.a=b", "'system' takes no name after a dot"),
        ("human='coherence", "whose quote has no end"),
        ("human=rating (1", "whose parenthesis has no end"),
        ("human=a++b", "expected a name of a column behind every sign"),
        ("system=", "expected a name of a column behind every sign"),
        ("system=a,system=b", "'system' is named twice"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, said: str) -> None:
    with pytest.raises(NlgaugeError) as error:
        parse_columns(text)
    assert said in str(error.value)


def test_every_role_is_named_on_the_command_line_by_columns() -> None:
    with command_line():
        for role in (*ONE_COLUMN, *LABELED):
            assert option(role) == f"--columns {role}=…"
        assert option("human_pass_from", 3) == "--human-pass-from 3"
    assert option("human_pass_from", 3) == "human_pass_from=3"


def _texts(path: Path) -> list[tuple[int, str]]:
    """Texts of a file that are no docstrings."""
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documented = [n for n in nodes(path) if isinstance(n, holders) and ast.get_docstring(n, clean=False)]
    docs = {id(node.body[0].value) for node in documented}  # type: ignore[attr-defined]
    return [
        (node.lineno, node.value)
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]


def test_messages_name_options_by_the_one_function() -> None:
    """Only `cli` writes `--option`; what both Python and the command line print names options with `option`."""
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE)
        if place.parts[0] in {"cli", "options.py"}:
            continue
        by_hand = [(line, o) for line, text in _texts(path) for o in OPTION.findall(text) if o not in OTHERS]
        assert not by_hand, f"{place}: {by_hand}"
