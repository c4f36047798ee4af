"""nlgauge estimate, as a user types it: a judge's score on every row, people's label on few."""

from __future__ import annotations

import csv
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from command import run_command

PAGE = Path(__file__).parents[2] / "docs" / "estimate.md"


def nlgauge(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_command(*words, cwd=cwd, COLUMNS="140")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 600 rows in 200 chats, 90 of them labelled at random, and labels of the rows with the highest scores."""
    home = tmp_path_factory.mktemp("estimate")
    draw = random.Random(5)
    good = [draw.random() < 0.6 for _ in range(600)]
    score = [min(max(draw.gauss(0.75 if g else 0.45, 0.15) + 0.15, 0), 1) for g in good]
    with (home / "log.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "chat", "answer", "judge_score"])
        rows.writerows([f"q{k}", f"c{k // 3}", "word " * draw.randint(3, 20), f"{score[k]:.3f}"] for k in range(600))
    best = sorted(range(600), key=lambda k: -score[k])[:90]
    for name, chosen in (("labels", draw.sample(range(600), 90)), ("best", best), ("few", range(8))):
        with (home / f"{name}.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["id", "label"])
            rows.writerows([f"q{k}", "pass" if good[k] else "fail"] for k in chosen)
    return home


def rows_of(run: subprocess.CompletedProcess[str]) -> dict[str, dict]:
    return {row["measure"]: row for table in json.loads(run.stdout)["tables"] for row in table["rows"]}


def test_labels_judge_and_both_stand_side_by_side(folder: Path) -> None:
    found = rows_of(nlgauge("estimate", "log.csv", "--labels", "labels.csv", "--format", "json", cwd=folder))
    plus, plain, judge = found["ppi_plus"], found["labels_only"], found["judge_only"]
    assert plus["n"] == plain["n"] == 90 and plus["rows"] == 600
    assert plus["high"] - plus["low"] < plain["high"] - plain["low"]
    assert plus["low"] < 0.6 < plus["high"] and judge["low"] > 0.65


def test_the_answer_is_said_in_words(folder: Path) -> None:
    said = nlgauge("estimate", "log.csv", "--labels", "labels.csv", cwd=folder).stdout.replace("\n", " ")
    assert "Estimated human pass rate" in said and "(outside the interval)" in said
    assert "no evidence that labeled outputs differ from the others" in said


def test_labels_of_chosen_rows_are_noticed(folder: Path) -> None:
    said = nlgauge("estimate", "log.csv", "--labels", "best.csv", cwd=folder).stdout.replace("\n", " ")
    assert "labeled outputs differ from the others in judge_score (p < .001)" in said


def test_too_few_labels_get_no_interval_and_are_told_how_many_it_takes(folder: Path) -> None:
    run = nlgauge("estimate", "log.csv", "--labels", "few.csv", "--format", "json", cwd=folder)
    row = rows_of(run)["ppi_plus"]
    assert row["low"] is None and row["reason"] == "requires at least 10 labels; found 8"


def test_ratings_that_are_all_alike_get_their_mean_and_a_reason_instead_of_an_interval(tmp_path: Path) -> None:
    rows = [f"q{k},some text,{k % 7},{5 if k < 30 else ''}" for k in range(100)]
    (tmp_path / "alike.csv").write_text("\n".join(["id,answer,judge,human", *rows]))
    run = nlgauge("estimate", "alike.csv", "--columns", "human=human", cwd=tmp_path)
    assert run.returncode == 0 and "Warning" not in run.stderr
    assert "(5.00): requires ratings that differ; all 30 are 5." in run.stdout


def test_clusters_count_together(folder: Path) -> None:
    run = nlgauge("estimate", "log.csv", "--labels", "labels.csv", "--cluster", "chat", cwd=folder)
    assert "outputs with the same 'chat' are a cluster" in run.stdout.replace("\n", " ")


def test_inputs_as_clusters_are_what_they_are_anyway(folder: Path) -> None:
    runs = [
        nlgauge("estimate", "log.csv", "--labels", "labels.csv", *more, cwd=folder)
        for more in ([], ["--cluster", "input"])
    ]
    assert [run.returncode for run in runs] == [0, 0]
    assert runs[0].stdout == runs[1].stdout


def test_names_of_conversations_beside_an_id_are_no_texts_and_count_together(folder: Path) -> None:
    text = (folder / "log.csv").read_text().replace("id,chat,", "id,conversation,", 1)
    (folder / "conversations.csv").write_text(text)
    for more in ([], ["--cluster", "conversation"]):
        run = nlgauge("estimate", "conversations.csv", "--labels", "labels.csv", *more, cwd=folder)
        assert run.returncode == 0, run.stderr
        assert "outputs with the same 'conversation' are a cluster" in run.stdout


def test_a_number_that_names_chats_is_no_judge(folder: Path) -> None:
    lines = (folder / "log.csv").read_text().splitlines()
    numbered = [line.replace(",c", ",", 1) if k else line.replace("chat", "desk_no", 1) for k, line in enumerate(lines)]
    (folder / "numbered.csv").write_text("\n".join(numbered))
    said = [
        nlgauge(
            "estimate", name, "--labels", "labels.csv", "--cluster", column, "--metrics", "judge_score", cwd=folder
        ).stdout
        for name, column in (("log.csv", "chat"), ("numbered.csv", "desk_no"))
    ]
    assert "outputs with the same 'desk_no' are a cluster" in said[1]
    tables = [[line for line in text.splitlines() if line.startswith(("labels only", "PPI"))] for text in said]
    assert len(tables[0]) == 3 and tables[0] == tables[1]


def test_the_column_with_probabilities_is_no_judge_and_a_column_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    draw = random.Random(7)
    rows = []
    for k in range(500):
        chance = 0.4 if k % 2 else 0.1
        good = draw.gauss(3, 1)
        label = f"{chance},{good:.1f}" if draw.random() < chance else ","
        rows.append(f"q{k},some words,{good + draw.gauss(0, 0.3):.2f},{'eu' if k % 2 else 'us'},{label}")
    (tmp_path / "own.csv").write_text("\n".join(["id,answer,judge,region,p,human", *rows]))
    for more in (["--probability", "p"], ["--probability", "p", "--strata", "region"]):
        run = nlgauge("estimate", "own.csv", *more, cwd=tmp_path)
        assert "PPI++ (judge)" in run.stdout and "rows:500" in run.stdout and "all judges" not in run.stdout
    run = nlgauge("estimate", "own.csv", "--probability", "p", "--strata", "nothing", cwd=tmp_path)
    assert run.returncode == 2 and "no column 'nothing'" in run.stderr and "Traceback" not in run.stderr


def test_sentences_about_groups_name_them(folder: Path) -> None:
    lines = (folder / "log.csv").read_text().splitlines()
    topics = [f"{line},{'topic' if k == 0 else 'ab'[k % 2]}" for k, line in enumerate(lines)]
    (folder / "topics.csv").write_text("\n".join(topics))
    said = nlgauge("estimate", "topics.csv", "--labels", "labels.csv", "--by", "topic", cwd=folder).stdout
    for group in "ab":
        assert f"\n{group}: Estimated human pass rate: " in said
        assert f"\n{group}: " in said.partition("outputs are labelled")[0]
    assert said.count("95% confidence intervals for outputs from the same population") == 1


def test_an_unknown_column_is_one_line(folder: Path) -> None:
    run = nlgauge("estimate", "log.csv", "--labels", "labels.csv", "--probability", "prob", cwd=folder)
    assert run.returncode == 2 and "no column 'prob'" in run.stderr


def test_the_page_shows_what_the_commands_print(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    log, fill, systems = (part.partition("```")[0] for part in page.split("```python\n")[1:])
    make = f'{log}\nimport subprocess, sys\nsubprocess.run([sys.executable, "-m", "nlgauge", *sys.argv[1:]])\n{fill}'
    draw = ["label", "log.csv", "--budget", "100", "-o", "to_label.csv"]
    subprocess.run([sys.executable, "-c", make, *draw], check=True, cwd=tmp_path, capture_output=True)
    subprocess.run([sys.executable, "-c", systems], check=True, cwd=tmp_path)
    runs = [
        nlgauge("estimate", "log.csv", "--labels", "to_label.csv", cwd=tmp_path),
        nlgauge("analyze", "sparse-agreement", "log.csv", "--labels", "to_label.csv", cwd=tmp_path),
        nlgauge("estimate", "systems.csv", cwd=tmp_path),
    ]
    printed = {line.rstrip() for run in runs for line in run.stdout.splitlines()}
    blocks = [
        block.partition("```")[0]
        for block in re.split(r"```\n\$ nlgauge (?:estimate|analyze sparse-agreement)", page)[1:]
    ]
    shown = [line for block in blocks for line in block.splitlines()[1:] if "   " in line]
    assert len(shown) > 20
    assert [line for line in shown if line not in printed] == []


def transport(home: Path, probe: int, lenient: float = 0.25) -> str:
    """Two equally good systems; the judge is more lenient toward 'new', which has `probe` labels."""
    draw = random.Random(5)
    with (home / "transport.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["system", "id", "answer", "judge_score", "human"])
        for k in range(400):
            for system, more, labels in (("old", 0.0, 120), ("new", lenient, probe)):
                quality = draw.gauss(0.5, 0.2)
                score = round(min(1, max(0, quality + more + draw.gauss(0, 0.1))), 3)
                rows.writerow([system, f"q{k}", "x y z", score, int(quality > 0.45) if k < labels else ""])
    return "transport.csv"


def test_a_system_without_labels_gets_no_number_and_there_is_none_over_all_outputs(tmp_path: Path) -> None:
    run = nlgauge("estimate", transport(tmp_path, 0), "--format", "json", cwd=tmp_path)
    table = json.loads(run.stdout)["tables"][0]
    values = {(row["system"], row["measure"]): row["value"] for row in table["rows"]}
    assert values["new", "ppi_plus"] is values["new", "labels_only"] is None
    assert values["old", "ppi_plus"] is not None and "all" not in {system for system, _ in values}
    text = nlgauge("estimate", "transport.csv", cwd=tmp_path).stdout.replace("\n", " ")
    assert "all 120 labels are of system 'old'; 'new' has none. Label about " in text
    assert "labels per system: old 120, new 0." in text and "of 'old'" in text
    assert "no evidence that labeled outputs differ" in text


def test_five_labels_of_a_system_are_not_enough_where_another_has_many(tmp_path: Path) -> None:
    text = nlgauge("estimate", transport(tmp_path, 5), cwd=tmp_path).stdout.replace("\n", " ")
    assert "120 of 125 labels are of system 'old'; 'new' has 5. Label about " in text


def test_a_probe_audits_the_transfer_and_each_system_counts_by_its_outputs(tmp_path: Path) -> None:
    run = nlgauge("estimate", transport(tmp_path, 50), "--format", "json", cwd=tmp_path)
    table = json.loads(run.stdout)["tables"][0]
    rows = {(row["system"], row["measure"]): row for row in table["rows"]}
    every, old, new = (rows[system, "ppi_plus"] for system in ("all", "old", "new"))
    assert abs(every["value"] - (old["value"] + new["value"]) / 2) < 1e-9
    assert every["high"] - every["low"] > 0.7 * (new["high"] - new["low"]) / 2
    assert new["low"] < 0.6 < new["high"]
    text = nlgauge("estimate", "transport.csv", cwd=tmp_path).stdout.replace("\n", " ")
    assert (
        "Transfer of the judge's mean error from 'old' to 'new': does not transfer; difference +0." in text
        and "margin ±0.05" in text
    )
    wide = nlgauge("estimate", "transport.csv", "--margin", "0.9", cwd=tmp_path).stdout.replace("\n", " ")
    assert "Transfer of the judge's mean error from 'old' to 'new': transfers" in wide and "margin ±0.9" in wide


def test_a_random_draw_from_many_systems_leaves_none_out(tmp_path: Path) -> None:
    draw = random.Random(3)
    labelled = set(draw.sample(range(800), 60))
    rows = []
    for k in range(800):
        good = draw.random() < 0.6
        label = int(good) if k in labelled else ""
        rows.append(f"s{k % 20},q{k // 20},some words,{draw.gauss(0.7 if good else 0.4, 0.1):.3f},{label}")
    (tmp_path / "many.csv").write_text("\n".join(["system,id,answer,judge,human", *rows]))
    run = nlgauge("estimate", "many.csv", "--format", "json", cwd=tmp_path)
    found = {(r["system"], r["measure"]): r for r in json.loads(run.stdout)["tables"][0]["rows"]}
    assert found["all", "ppi_plus"]["low"] < 0.6 < found["all", "ppi_plus"]["high"]
    assert "No estimate over all outputs" not in run.stdout


def test_verdicts_gate_and_run_say_which_systems_have_no_labels(tmp_path: Path) -> None:
    name = transport(tmp_path, 0)
    cut = ["--judge-pass-from", "0.5"]
    gap = "120 labels are of system 'old'; 'new' has none"
    assert gap in nlgauge("analyze", "verdicts", name, *cut, cwd=tmp_path).stdout.replace("\n", " ")
    kappa = nlgauge("gate", name, "--min", "kappa=.2", *cut, cwd=tmp_path)
    assert kappa.returncode == 0 and gap in kappa.stdout.replace("\n", " ")
    share = nlgauge("gate", name, "--min", "pass_rate=.3", "--format", "json", cwd=tmp_path)
    verdicts = {row["system"]: row["verdict"] for table in json.loads(share.stdout)["tables"] for row in table["rows"]}
    assert share.returncode == 3 and verdicts == {"old": "passed", "new": "undecided"}
    assert gap in nlgauge("run", name, cwd=tmp_path).stdout.replace("\n", " ")


def test_verdicts_audit_the_transfer_between_systems_with_unequal_labels(tmp_path: Path) -> None:
    name = transport(tmp_path, 50)
    text = nlgauge("analyze", "verdicts", name, "--judge-pass-from", "0.5", cwd=tmp_path).stdout.replace("\n", " ")
    assert "labels per system: old 120, new 50." in text
    assert (
        "judge_score: Transfer of the judge's mean error from 'old' to 'new': does not transfer; difference +0." in text
    )
