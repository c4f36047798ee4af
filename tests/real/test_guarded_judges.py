"""Two real judges through gate, drift, bias and panel: what the pages show is what is printed."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nlgauge.cli import build
from nlgauge.datasets import load_set
from nlgauge_papers.gao2025.judges import ratings

DOCS = Path(__file__).parents[2] / "docs"
ASPECTS = ("coherence", "consistency", "fluency", "relevance")
OLD, NEW = "gpt-3.5-turbo-0301 rts", "gpt-4-0314 rts"
COSTS = {"gpt-4": 10, "gpt-3.5": 1, "llama-2": 0.5}


def short(judge: str) -> str:
    """'gpt-3.5 mcq', 'gpt-4', 'llama-2-7b'."""
    name = judge.replace("-turbo-0301", "").replace("-chat-hf rts", "")
    return "gpt-4" if judge == NEW else name


@pytest.fixture(scope="module")
def folder(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """old.csv and new.csv (a judge each), judges.csv (both), panel.csv (nine judges, coherence)."""
    made = tmp_path_factory.mktemp("judges")
    data = load_set("summeval", mirror=real_data)
    texts = {(s, i): text for s, i, text in data.samples.select("system", "input", "output").iter_rows()}
    people: dict[tuple[str, str], dict[str, float]] = {}
    for s, i, aspect, rater, value in data.ratings.select("system", "input", "aspect", "rater", "value").iter_rows():
        if aspect in ASPECTS and rater:
            people.setdefault((s, i), {})[f"{aspect}_{rater.replace(' ', '')}"] = value
    judged = {aspect: ratings(real_data, aspect) for aspect in ASPECTS}

    def write(name: str, columns: dict[str, dict[tuple[str, str], float]], aspects: tuple[str, ...] = ASPECTS) -> None:
        experts = [f"{aspect}_expert{k}" for aspect in aspects for k in (1, 2, 3)]
        with (made / name).open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["system", "input", "output", *experts, *columns])
            for key in sorted(set().union(*columns.values())):
                scores = [values.get(key, "") for values in columns.values()]
                rows.writerow([*key, texts[key], *(people[key].get(e, "") for e in experts), *scores])

    write("old.csv", {f"judge-{a}": judged[a][OLD] for a in ASPECTS})
    write("new.csv", {f"judge-{a}": judged[a][NEW] for a in ASPECTS})
    write("judges.csv", {f"{j}-{a}": judged[a][of] for j, of in (("gpt-3.5", OLD), ("gpt-4", NEW)) for a in ASPECTS})
    write("panel.csv", {short(j): values for j, values in judged["coherence"].items()}, ("coherence",))
    return made


def shown(page: str, *verbs: str) -> list[tuple[str, list[str]]]:
    """Commands of a page on these files, each with the lines shown below it."""
    blocks = re.findall(r"```\n(\$ nlgauge .*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)
    commands = [part.splitlines() for block in blocks for part in block.split("$ nlgauge ") if part.strip()]
    return [(lines[0], lines[1:]) for lines in commands if lines[0].split()[0] in verbs]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "verb", "files"),
    [
        ("gate.md", "gate", "new.csv --aspect"),
        ("drift.md", "analyze", "drift old.csv new.csv"),
        ("bias.md", "analyze", "bias judges.csv"),
        ("jury.md", "analyze", "jury panel.csv"),
    ],
)
def test_what_the_page_shows_is_printed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, page: str, verb: str, files: str
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "160")
    found = [(line, lines) for line, lines in shown(page, verb) if files in line]
    assert found
    for line, lines in found:
        words = re.findall(r'"[^"]*"|\S+', line)
        words = [
            ",".join(f"{short(j)}={c:g}" for j in JUDGES for n, c in COSTS.items() if short(j).startswith(n))
            if word.startswith('"')
            else word
            for word in words
        ]
        printed = CliRunner().invoke(build(verb), words).stdout.splitlines()
        assert [text for text in lines if text and text != "…" and text not in printed] == [], "\n".join(printed)


JUDGES = (
    *(f"gpt-3.5-turbo-0301 {style}" for style in ("rts", "altrts", "mcq", "altmcq", "stareval")),
    NEW,
    *(f"llama-2-{size}-chat-hf rts" for size in ("7b", "13b", "70b")),
)


@pytest.mark.slow
def test_both_judges_on_one_page(folder: Path, tmp_path: Path) -> None:
    import nlgauge as ng

    made = ng.report(folder / "new.csv", out=tmp_path / "page.html", quick=True, against=folder / "old.csv")
    said = {a.section.key: [p.answer for p in a.found.parts] for a in made.sections}
    assert len(said["drift"]) == 4 and "the judge has drifted by +1.83 [1.70, 1.95]" in said["drift"][0]
    assert said["bias"][0].startswith("judge, compared with annotators: favors longer outputs (coherence +0.32")
    both = ng.report(folder / "judges.csv", out=tmp_path / "both.html", quick=True)
    panels = next(a for a in both.sections if a.section.key == "jury").found.parts
    assert [p.about for p in panels] == list(ASPECTS) and "independent judges is 1.6 [1.6, 1.7]" in panels[0].answer
