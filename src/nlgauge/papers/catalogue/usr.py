"""USR: dialogue responses on Persona-Chat and Topical-Chat, six aspects, three named raters an output."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.errors import DataError
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import csv_table, ratings, records, scores

ASPECTS = {
    "Understandable": "0–1",
    "Natural": "1–3",
    "MaintainsContext": "1–3",
    "Engaging": "1–3",
    "UsesKnowledge": "0–1",
    "Overall": "1–5",
}
PEOPLE = ("Original Ground Truth", "New Human Generated")
BERTSCORE = (
    "bert_recall_* is really BERTScore F1; bert_f1_* and bert_precision_* are its precision and recall, "
    "in unknown order"
)
SCORES = "usr_dialogue/usr_topical_metric_scores.csv.gz"


def load(folder: Path, which: str) -> Dataset:
    home = folder / "usr_dialogue"
    rows = records(home / f"usr_{which}_chat.jsonl")
    reference = {r["context_id"]: r["response"].strip() for r in rows if r["model"] == PEOPLE[0]}
    samples = pl.DataFrame(
        {
            "system": [r["model"] for r in rows],
            "input": [str(r["context_id"]) for r in rows],
            "output": [r["response"].strip() for r in rows],
            # What was said before is what the response answers, the fact what it may use: source and context of the metrics.
            "source": [r["context"].strip() for r in rows],
            "context": [r["fact"].strip() for r in rows],
            "references": [[reference[r["context_id"]]] for r in rows],
        }
    )
    notes = [BERTSCORE, f"references are the responses of '{PEOPLE[0]}'"]
    table = scores(samples, [r["metrics"] for r in rows])
    table = table.join(scores(samples, [r.get("metrics_rankingnlpsystems") for r in rows]), on=KEY)
    predicted = home / f"unieval_{which}_chat_predictions.jsonl"
    if predicted.is_file():
        others = sorted(records(predicted), key=lambda r: int(r["i"]))
        if [r["system_id"] for r in others] != samples["system"].to_list():
            raise DataError(
                f"{predicted}: its rows are not those of usr_{which}_chat.jsonl (the systems differ)."
            )
        table = table.join(scores(samples, [r["predict_scores"] for r in others], "unieval_"), on=KEY)
    elif which == "topical":
        notes.append(f"{predicted.name} is not there: UniEval's own predictions are left out")
    long = ratings(
        (r["model"], str(r["context_id"]), aspect, given["annotator"], given[aspect])
        for r in rows
        for given in r["ratings"]
        for aspect in ASPECTS
    )
    return Dataset.of(
        f"usr-{which}",
        samples,
        ratings=long,
        scores=table,
        persons=True,
        people=PEOPLE,
        lower=["perplexity"],
        notes=notes,
    )


def load_scores(folder: Path) -> Dataset:
    """The same outputs with the scores that the authors of USR published, found by turn and response."""
    data = load(folder, "topical")
    published = {_line(r["turns"]): r for r in csv_table(folder / SCORES).iter_rows(named=True)}
    found = [
        published.get(_line(f"{history.splitlines()[-1]} _eos _go {response} _eos"))
        for history, response in data.samples.select("source", "output").iter_rows()
    ]
    if not any(found):
        raise DataError(
            f"{folder / SCORES}: none of its lines is a turn and response of usr_topical_chat.jsonl."
        )
    values = [{c: r[c] for c in r if c != "turns"} if r else None for r in found]
    return replace(
        data, name="usr-topical-scores", scores=scores(data.samples, values), notes=data.notes[1:2]
    )


def _line(text: str) -> str:
    return " ".join(text.lower().split())


def _entry(
    which: str, shape: str, raters: str, origins: tuple[Origin, ...], files: tuple[File, ...]
) -> Entry:
    return Entry(
        name=f"usr-{which}",
        title=f"USR, {which.capitalize()}-Chat",
        task="dialogue",
        aspects=ASPECTS,
        raters=raters,
        licence="MIT (checklist tables, CTC, UniEval), none stated (13 metrics); the USR data page was "
        "not reachable",
        cite="mehri-eskenazi-2020-usr",
        reference="Mehri, Eskenazi (2020). USR: An Unsupervised and Reference Free Evaluation Metric for "
        "Dialog Generation. ACL.",
        origins=(
            Origin("inimah/metric-preference-checklist", "490d587", f"data/usr_{which}_chat.csv"),
            Origin("tanyuqian/ctc-gen-eval", "d5851e6", "train/data/"),
            *origins,
        ),
        papers=("nimah2023", "deng2021", "gao2025", "colombo2023"),
        people=PEOPLE,
        shape=shape,
        files=files,
        missing="The 13 metrics of RankingNLPSystems have no value for 'Original Ground Truth', their "
        "reference.",
        notes=(BERTSCORE + ".", "Raters' names were replaced by r1, r2, …"),
        loader=partial(load, which=which),
    )


ROWS = (
    "JSONL: context_id, model, context, fact, response, ratings[{annotator, aspects}], metrics{}, "
    "metrics_rankingnlpsystems{}"
)
TOPICAL = File(
    "usr_dialogue/usr_topical_chat.jsonl",
    1159919,
    "e68e9448e0d3ee16db1b033bb000d60dff4d5ea3df9072eedb5d07e7cad5aaea",
    ROWS,
)
ENTRIES = (
    _entry(
        "persona",
        "5 systems (2 of them people) × 60 contexts",
        "3 an output, of 4 persons",
        (Origin("PierreColombo/RankingNLPSystems", "21c8cc7", "final_df/DIALOG_pc.csv"),),
        (
            File(
                "usr_dialogue/usr_persona_chat.jsonl",
                725163,
                "655ce9b25b8ce45041b3d0760403475df8fc59ac3dfe97e3c0ad9bbdfd2e8147",
                ROWS,
            ),
        ),
    ),
    _entry(
        "topical",
        "6 systems (2 of them people) × 60 contexts",
        "3 an output, of 5 persons",
        (
            Origin("PierreColombo/RankingNLPSystems", "21c8cc7", "final_df/DIALOG_tc.csv"),
            Origin(
                "maszhongming/UniEval",
                "d33e7b6",
                "reproduce/unieval_predict/dialogue/topical_chat_result.json",
            ),
        ),
        (
            TOPICAL,
            File(
                "usr_dialogue/unieval_topical_chat_predictions.jsonl",
                158895,
                "a7160fee9713a6f626015ee52ed2d6c913a11d804d8c72a7586d8f6039539bd6",
                "JSONL: i, system_id, predict_scores{six aspects}",
                extra=True,
            ),
        ),
    ),
    Entry(
        name="usr-topical-scores",
        title="USR's own published scores, Topical-Chat",
        task="dialogue",
        aspects=ASPECTS,
        raters="3 an output, of 5 persons",
        licence="Apache-2.0 (scores); texts and ratings as 'usr-topical'",
        cite="mehri-eskenazi-2020-usr",
        reference="Mehri, Eskenazi (2020). USR: An Unsupervised and Reference Free Evaluation Metric for "
        "Dialog Generation. ACL.",
        origins=(
            Origin(
                "Shikib/usr", "6b6503a8fe48dac9125bc300888e01be09bf0c90", "examples/undr/mlm_roberta.scores"
            ),
            Origin("Shikib/usr", "6b6503a8fe48dac9125bc300888e01be09bf0c90", "examples/both/dr.scores"),
            Origin("Shikib/usr", "6b6503a8fe48dac9125bc300888e01be09bf0c90", "examples/fct/dr.scores"),
        ),
        papers=("deng2021",),
        people=PEOPLE,
        shape="6 systems (2 of them people) × 60 contexts",
        files=(
            TOPICAL,
            File(
                SCORES,
                23666,
                "c90aed9c5e7a87b2845bb6de99f89969e3d8ca443f86e4ab8ec31795ddb3ca93",
                "CSV: turns (turn _eos _go response _eos), usr_mlm, usr_dr_context, usr_dr_fact",
            ),
        ),
        missing="'Original Ground Truth' has no scores (but where another system said the same).",
        loader=load_scores,
    ),
)
