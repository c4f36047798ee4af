"""What the reasons of deng2021 say of METEOR: its own program (METEOR 1.5, Java, with paraphrases and its tokenizer)
gives every printed cell of Tables F.1 to F.6, and of D.2; ours is equal to it but for a few outputs. D.1 and D.3 take
minutes with their 11 references; measured once, they were equal too."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nlgauge.metrics import Batch, metric_from_spec
from nlgauge_papers import Sources, meteor_1_5, published_rows
from nlgauge_papers.deng2021.baselines import BaselineRows
from nlgauge_papers.deng2021.dialogue import HUMAN, SETS, TRUTH

pytestmark = [pytest.mark.real, pytest.mark.slow]
Program = subprocess.Popen[str]


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    folder = Path(pytest.importorskip("pycocoevalcap").__path__[0]) / "meteor"
    if shutil.which("java") is None or not (folder / "data" / "paraphrase-en.gz").is_file():
        pytest.skip("java, or METEOR's paraphrase table, is not there")
    # One thread for garbage and a quick compiler: the program lives for seconds.
    command = [
        "java",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Xmx1500M",
        "-jar",
        "meteor-1.5.jar",
        "-",
        "-",
        "-stdio",
        "-l",
        "en",
        "-norm",
    ]
    with subprocess.Popen(
        command, cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        yield process
        process.kill()


def score(program: Program, output: str, reference: str) -> float:
    assert program.stdin
    assert program.stdout

    def ask(line: str) -> str:
        program.stdin.write(line + "\n")  # type: ignore[union-attr]
        program.stdin.flush()  # type: ignore[union-attr]
        return program.stdout.readline().strip()  # type: ignore[union-attr]

    stats = ask(" ||| ".join(["SCORE", " ".join(reference.split()), " ".join(output.split())]))
    value = float(ask(f"EVAL ||| {stats}"))
    program.stdout.readline()  # of the corpus
    return value


def scores(program: Program, rows: BaselineRows) -> np.ndarray:
    pairs = rows.data.samples.select("output", "references").iter_rows()
    return np.array([score(program, output, references[0]) for output, references in pairs])


@pytest.mark.parametrize("name", SETS.values())
def test_its_program_gives_every_cell_of_dialogue(name: str, program: Program, real_data: Path) -> None:
    rows = BaselineRows(Sources(real_data), Sources(real_data)(name))
    found = scores(program, rows)
    ours_too = metric_from_spec(meteor_1_5.spec()).score(Batch.of(rows.data)).values
    assert (np.abs(ours_too - found) < 1e-9).mean() > 0.997  # measured 300 of 300 and 359 of 360
    wanted = {}
    for table, aspect in zip(("F.1", "F.2") if name == "usr-persona" else ("F.3", "F.4"), HUMAN.values(), strict=True):
        for r in published_rows("deng2021", table):
            if r["metric"] == "METEOR":  # the paper prints Overall's values for systems of PersonaChat
                of = "Overall" if name == "usr-persona" and r["level"] == "system" else aspect
                wanted[table, of, r["level"], r["coefficient"]] = r["printed"]
    for r in published_rows("deng2021", "F.6"):
        if r["metric"] == "METEOR" and SETS[r["set"]] == name:
            wanted["F.6", r["aspect"], "sample", "pearson"] = r["printed"]
    assert len(wanted) == 12
    for (_, aspect, *key), printed in wanted.items():
        ours = rows.correlate(found, aspect, without=TRUTH)[key[0], key[1]]
        assert f"{ours:.4f}" == f"{float(printed):.4f}"


def test_its_program_gives_every_cell_of_relevance_with_one_reference(program: Program, real_data: Path) -> None:
    rows = BaselineRows(Sources(real_data), Sources(real_data)("summeval"))
    ours = rows.correlate(scores(program, rows), "relevance")
    printed = {
        (r["level"], r["coefficient"]): r["printed"]
        for r in published_rows("deng2021", "D.2")
        if r["metric"] == "METEOR"
    }
    assert {key: f"{v:.4f}" for key, v in ours.items()} == {key: f"{float(v):.4f}" for key, v in printed.items()}
