"""SummEval: 16 summarisers on 100 CNN/DM articles; experts, crowd, 13 metrics and replies of LLM judges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import Rating, Record, ratings, records, scores

ASPECTS = ("coherence", "consistency", "fluency", "relevance")


def load(folder: Path, judges: bool = False, tokenised: bool = False) -> Dataset:
    """`judges` adds the parsed scores of LLM judges as metrics such as `gpt-4-0314/rts/coherence`;
    `tokenised` gives the re-tokenised, re-cased texts of the BARTScore repository, not the original ones."""
    home = folder / "summeval"
    notes = ["the extractive M0, M1, M2, M5 have only the experts' mean, no single ratings"]
    rows = records(home / "summeval_outputs_human_metrics.jsonl")
    samples = _samples(home, rows, tokenised)
    long = list(_experts(rows))
    crowd = home / "summeval_12systems_individual_annotations.jsonl"
    if crowd.is_file():
        long += _crowd(records(crowd))
    else:
        notes.append(f"{crowd.name} is not there: no crowd ratings")
    table = scores(samples, [r["metrics"] for r in rows])
    if judges:
        table = table.join(_judges(home / "summeval_llm_judge_responses.jsonl.gz", notes), on=KEY, how="left")
    return Dataset.of("summeval", samples, ratings=ratings(long), scores=table, people=(), notes=notes)


def _samples(home: Path, rows: list[Record], tokenised: bool) -> pl.DataFrame:
    if tokenised:
        given = {
            d["doc_id"]: (d["src"], d["ref_summs"]) for d in records(home / "summeval_documents.jsonl.gz")
        }
    else:
        original = records(home / "summeval_12systems_source_and_11refs_original.jsonl.gz")
        given = {d["id"]: (d["text"], d["references"]) for d in original}
    return pl.DataFrame(
        {
            "system": [r["system"] for r in rows],
            "input": [r["doc_id"] for r in rows],
            "output": [r["sys_summ" if tokenised else "decoded"] for r in rows],
            "source": [given[r["doc_id"]][0] for r in rows],
            "references": [given[r["doc_id"]][1] for r in rows],
        }
    )


def _experts(rows: list[Record]) -> Iterator[Rating]:
    for r in rows:
        for aspect in ASPECTS:
            if r["expert"]:
                for k, given in enumerate(r["expert"], 1):
                    yield r["system"], r["doc_id"], aspect, f"expert {k}", given[aspect]
            else:
                yield r["system"], r["doc_id"], aspect, None, r["human_mean"][aspect]


def _crowd(rows: list[Record]) -> Iterator[Rating]:
    for r in rows:
        for k, given in enumerate(r["turker_annotations"], 1):
            for aspect in ASPECTS:
                yield r["model_id"], r["id"], f"{aspect} (turker)", f"turker {k}", given[aspect]


def _judges(path: Path, notes: list[str]) -> pl.DataFrame:
    rows = records(path)
    unparsed = sum(r["score_parsed_here"] is None for r in rows)
    long = pl.DataFrame(
        {
            "system": [r["system"] for r in rows],
            "input": [r["id"] for r in rows],
            "judge": [f"{r['evaluator']}/{r['method']}/{r['aspect']}" for r in rows],
            "score": pl.Series([r["score_parsed_here"] for r in rows], dtype=pl.Float64, strict=False),
        }
    )
    twice = long.height - long.select(*KEY, "judge").n_unique()
    notes.append(
        f"LLM judges: {len(rows)} replies; in {unparsed} a simple parser (not the authors') found no score; "
        f"{twice} repeat another, their mean is used"
    )
    return long.pivot("judge", index=KEY, values="score", aggregate_function="mean")


def _file(name: str, size: int, sha256: str, layout: str, extra: bool = True) -> File:
    return File(f"summeval/{name}", size, sha256, layout, extra=extra)


ENTRIES = (
    Entry(
        name="summeval",
        title="SummEval",
        task="summarisation",
        aspects=dict.fromkeys(ASPECTS, "1–5") | {f"{a} (turker)": "1–5" for a in ASPECTS},
        raters="3 experts and 5 crowd workers an output for 12 systems (order in the file, not "
        "persons); means for 4",
        licence="MIT (SummEval, PPairS), Apache-2.0 (BARTScore), none stated (judge replies, metric table)",
        cite="fabbri-etal-2021-summeval",
        reference="Fabbri, Kryściński, McCann, Xiong, Socher, Radev (2021). SummEval: Re-evaluating "
        "Summarization Evaluation. TACL 9.",
        origins=(
            Origin("neulab/BARTScore", "248f511", "SUM/SummEval/data.pkl"),
            Origin("PierreColombo/RankingNLPSystems", "21c8cc7", "final_df/SUM_EVAL.csv"),
            Origin(
                "DAMO-NLP-SG/LLM_summeval", "bd7dde1", "model_output_annotations/, eval_model_generations/"
            ),
            Origin("maiush/PPairS", "0beef74", "data/summeval.jsonl"),
        ),
        papers=("nimah2023", "deng2021", "gao2025", "colombo2023"),
        shape="16 systems × 100 articles",
        files=(
            _file(
                "summeval_outputs_human_metrics.jsonl",
                2384888,
                "d109be6c5348bf1f04c1d26896027123ffc5b3f330fb2a799f56635552e9c1dc",
                "JSONL: doc_id, system, decoded, sys_summ, human_mean{}, expert[{}] or null, metrics{}",
                extra=False,
            ),
            _file(
                "summeval_12systems_source_and_11refs_original.jsonl.gz",
                156813,
                "cd849cdc2fc2d10cd731641d7f09a6bbffad6e98c96706225dc4fd9afef8c6ef",
                "JSONL: id, text, references[]",
                extra=False,
            ),
            _file(
                "summeval_12systems_individual_annotations.jsonl",
                1178495,
                "2a29f10405c9ec7714059fd1b745ce881d46590890ee16cd68a570de519517bc",
                "JSONL: id, model_id, decoded, expert_annotations[{}], turker_annotations[{}]",
            ),
            _file(
                "summeval_documents.jsonl.gz",
                157579,
                "01f7b91b85e07793bb24c95af8b2ab4f66db519b66653f84790989b63fff4bd2",
                "JSONL: doc_id, src, ref_summs[] (only for tokenised=True)",
            ),
            _file(
                "summeval_llm_judge_responses.jsonl.gz",
                2610858,
                "32d2f98d1ae6cc35af5fca0d3f161c84d1372d460b7317be476c286fb1b460c2",
                "JSONL: evaluator, method, aspect, system, id, score_parsed_here (only for judges=True)",
            ),
        ),
        missing="Single ratings of the four extractive systems M0, M1, M2, M5; the 17th system of the "
        "original release; the score files of UniEval, G-Eval and CTC.",
        notes=(
            "Settings of the 13 metrics are not stated; ROUGE looks like recall over several references.",
        ),
        loader=load,
    ),
)
