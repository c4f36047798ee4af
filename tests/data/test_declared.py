"""Columns that the user declares: one form for `columns=`, keyword arguments and nlgauge.toml."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng
from command import run_command
from nlgauge.errors import DataError, NlgaugeError

TABLE = """model;doc;a;b;bleu;err;text_1;text_2
A;1;4;5;.1;3;x;y
A;2;2;3;.3;2;x;y
B;1;1;2;.2;4;x;y
B;2;2;2;.1;1;x;y
"""
SAME = {"system": "model", "human": {"quality": ["a", "b"]}, "metrics": ["bleu", "err"], "lower": ["err"]}
TEXT = "system=model,human.quality=a+b,metrics=bleu+err,lower=err"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (path := tmp_path / "mine.csv").write_text(TABLE)
    return path


def facts(data: ng.Dataset) -> tuple[Any, ...]:
    return data.systems, data.aspects, data.raters, data.metrics, data.lower, data.ratings.rows(), data.scores.rows()


def test_a_text_a_mapping_keywords_and_a_settings_file_say_the_same(path: Path) -> None:
    by_keyword = facts(ng.load(path, **SAME))
    assert by_keyword[1:4] == (["quality"], ["a", "b"], ["bleu", "err"])
    assert facts(ng.load(path, columns=TEXT)) == by_keyword
    assert facts(ng.load(path, columns=SAME)) == by_keyword
    assert facts(ng.load(path, columns={**SAME, "human": None} | {"human.quality": ["a", "b"]})) == by_keyword
    path.with_name("nlgauge.toml").write_text(
        '[columns]\nsystem = "model"\nhuman.quality = ["a", "b"]\nmetrics = ["bleu", "err"]\nlower = "err"\n'
    )
    data = ng.load(path)
    assert facts(data) == by_keyword
    assert data.notes[0] == f"from nlgauge.toml: {TEXT}"


def test_several_columns_of_references_are_named(path: Path) -> None:
    data = ng.load(path, columns="human=a,references=text_1+text_2")
    assert data.samples["references"].to_list()[0] == ["x", "y"]


def test_explicit_words_override_the_settings_role_by_role(path: Path) -> None:
    path.with_name("nlgauge.toml").write_text('[columns]\nhuman = "a"\nmetrics = ["bleu"]\n')
    assert (ng.load(path).aspects, ng.load(path).metrics) == (["a"], ["bleu"])
    data = ng.load(path, columns="human=b")
    assert (data.aspects, data.metrics) == (["b"], ["bleu"])
    assert data.notes[0] == "from nlgauge.toml: metrics=bleu"
    assert not any("nlgauge.toml" in note for note in ng.load(path, human="b", metrics="err").notes)


def test_a_pattern_in_the_settings_is_for_the_files_it_matches(path: Path) -> None:
    (other := path.with_name("other.csv")).write_text(TABLE.replace("model", "origin"))
    path.with_name("nlgauge.toml").write_text(
        '[columns]\nsystem = "model"\nhuman = "a"\n[columns."oth*.csv"]\nsystem = "origin"\n'
    )
    assert ng.load(path).systems == ng.load(other).systems == ["A", "B"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            "[columns]\nhumans = 'a'",
            r"nlgauge.toml, \[columns\]: no role 'humans'. Did you mean 'human' or 'human_systems'\? Roles: system",
        ),
        ("[columns]\nhuman = 3", r"nlgauge.toml, \[columns\]: human: found 3, expected names"),
        ("[columns.'x*']\nsystem = ['a']", r"\[columns.\"x\*\"\]: system: found \['a'\], expected a name"),
        ("[columns]\nrepeats = 'some'", "use auto, number or mean"),
        ("[columns]\nsystem = 'origin'", r"no column 'origin' \(named in nlgauge.toml\)"),
        ("[columns", "nlgauge.toml: invalid TOML"),
        ("columns = 3", r"columns: found 3, expected a table, \[columns\]"),
        ("[columns]\nreader = 'evil.py@Reader'", "a reader in a Python file can only be named with"),
    ],
)
def test_a_mistake_in_the_settings_is_one_line(path: Path, settings: str, said: str) -> None:
    path.with_name("nlgauge.toml").write_text(settings)
    with pytest.raises(NlgaugeError, match=said) as error:
        ng.load(path)
    assert "\n" not in str(error.value)


def test_settings_are_no_part_of_labels_or_of_a_frame(path: Path) -> None:
    path.with_name("nlgauge.toml").write_text('[columns]\nsystem = "model"\nmetrics = "bleu"\n')
    (labels := path.with_name("labels.csv")).write_text("model,doc,good\nA,1,1\nB,1,0\nA,2,1\nB,2,0\n")
    assert ng.load(path, labels=labels).ratings["value"].to_list() == [1, 0, 1, 0]
    assert not any("nlgauge.toml" in note for note in ng.load([{"system": "A", "input": "1", "coherence": 2}]).notes)


def test_a_role_that_is_given_twice_or_unknown_is_refused(path: Path) -> None:
    with pytest.raises(DataError, match="human=: declared twice, also in columns="):
        ng.load(path, columns="human=a", human="b")
    with pytest.raises(NlgaugeError, match="columns=: no role 'rating'"):
        ng.load(path, columns={"rating": "a"})


def test_the_command_line_declares_columns_with_the_same_text(path: Path) -> None:
    done = run_command("data", "check", path, "--columns", TEXT, "-f", "json")
    assert (done.returncode, "rating of quality by a" in done.stdout) == (0, True)
    wrong = run_command("data", "check", path, "--columns", "humans=a")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("nlgauge: --columns: no role 'humans'")


def test_what_a_message_asks_for_can_be_typed_and_called(path: Path) -> None:
    """The same refusal names an argument in Python and an option of the command line."""
    path.write_text(TABLE.replace("model", "origin").replace("a;b", "coherence;b"))
    with pytest.raises(DataError, match=r"if it is 'origin': system='origin'\."):
        ng.load(path)
    typed = run_command("run", path, "--quick", cwd=path.parent)
    assert "if it is 'origin': --columns system=origin." in typed.stderr
    assert run_command("data", "check", path, "--columns", "system=origin").returncode == 0


def test_a_file_is_opened_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    original = io.open

    def watched(name: Any, *args: Any, **kwargs: Any) -> Any:
        opened.append(Path(name).name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(io, "open", watched)
    ng.load(path)
    assert opened.count("mine.csv") == 1
