"""Controlled generation, stories and style transfer: CTRLEval, OpenMEVA, HANNA, UBER-PPLM, Yelp."""

from __future__ import annotations

import ast
import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from nlgauge.datasets.convert.reading import (
    Files,
    Record,
    array,
    arrays,
    json_lines,
    named,
    numbers_of,
    objects,
    only,
    rows,
)

CRITERIA = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
CONTENT = ("BLEU", "EmbedAvg", "METEOR", "GreedyMatch", "VectorExtrema", "WMD")
MASKS = ("style_masked", "unmasked", "style_removed")
VARIANTS = ("B", "BC", "BR", "BCR")  # of PPLM, in the order of its files
TOPICS = ("computers", "legal", "military", "politics", "religion", "science", "space")


def ctrleval(files: Files) -> bytes:
    """Convert texts with the means of three aspects; topics also get the scores in the table of nimah2023, joined by
    the text.
    """
    lines = [line.split("\t") for line in named(files, ".txt").decode().splitlines() if line.strip()]
    tables = [rows(content) for path, content in files.items() if path.endswith(".csv")]
    scored = {_text_key(r["attribute"], r["prefix"], r["output"]): _metrics(r) for table in tables for r in table}
    records = []
    for number, (attribute, prefix, text, *human) in enumerate(lines):
        aspects = ("coherence", "consistency", "attribute_relevance")
        row: Record = {"row": number, "attribute": attribute, "prefix": prefix, "text": text}
        row["human"] = dict(zip(aspects, map(float, human), strict=True))
        records.append(row | ({"metrics": scored[_text_key(attribute, prefix, text)]} if scored else {}))
    return json_lines(records)


def _text_key(*texts: str) -> tuple[str, ...]:
    return tuple(" ".join(text.split()) for text in texts)


def _metrics(row: dict[str, str]) -> dict[str, float | None]:
    kinds = ("bert_", "ctc_", "perplexity")
    return numbers_of(
        row, [c for c in row if (c.endswith(("_met", "_unieval")) or c.startswith(kinds)) and not c.startswith("pvi_")]
    )


def openmeva(files: Files) -> bytes:
    """Convert to one line per story, with the mean rating and the scores."""
    return json_lines(
        {"doc_id": r["doc_id"], "prompt": r["prompt"], "reference": r["reference"], "system": system}
        | {"text": written["text"], "human": written["score"]["human"]}
        | {"metrics": {k: v for k, v in written["score"].items() if k != "human"}}
        for r in objects(only(files))
        for system, written in r["gen"].items()
    )


def hanna_scores(files: Files) -> bytes:
    """Convert the released table (one row per system with lists of 96 prompts) to Parquet with one row per story."""
    csv.field_size_limit(1 << 24)
    table = rows(only(files))
    columns: dict[str, list[Any]] = {"story_id": [], "model": [], "prompt_idx": []}
    for row in table:
        lists = {name: _numbers(text) for name, text in row.items() if name != "Model"}
        prompts = len(next(iter(lists.values())))
        columns["story_id"] += range(len(columns["story_id"]), len(columns["story_id"]) + prompts)
        columns["model"] += [row["Model"]] * prompts
        columns["prompt_idx"] += range(prompts)
        for name, values in lists.items():
            columns.setdefault(name, []).extend(values)
    out = io.BytesIO()
    pl.DataFrame(columns).write_parquet(out, compression="uncompressed", statistics=False)
    return out.getvalue()


def _numbers(text: str) -> list[float]:
    return [float(v) for v in ast.literal_eval(re.sub(r"\bnan\b", "None", text))]


def hanna_stories(files: Files) -> bytes:
    """Convert the stories, which PPairS released without the systems, by joining prompts and the means of the six
    criteria.

    Human stories are next to the prompts in the authors' file. A story that several systems could have written is
    dropped.
    """
    csv.field_size_limit(1 << 24)
    table = rows(named(files, "hanna_metric_scores_llm.csv"))
    prompts = _prompts(named(files, "hanna_llm_stories.csv"))
    texts: dict[tuple[Any, ...], list[str]] = {}
    for r in objects(named(files, "data/hanna.jsonl")):
        means = (round(float(r[c]), 6) for c in CRITERIA)
        texts.setdefault((int(r["prompt_id"][1:]), *means), []).append(r["story"])
    rated = [[_numbers(row[c]) for c in CRITERIA] for row in table]
    keys: list[tuple[Any, ...]] = [
        (i, *(round(values[i], 6) for values in r)) for r in rated for i in range(len(prompts))
    ]
    records = []
    for number, key in enumerate(keys):
        model, (prompt, human) = table[number // len(prompts)]["Model"], prompts[key[0]]
        alone = keys.count(key) == 1 and len(texts.get(key, ())) == 1
        story = human if model == "Human" else texts[key][0] if alone else None
        records.append({"story_id": number, "model": model, "prompt_idx": key[0], "prompt": prompt, "story": story})
    return json_lines(records)


def _prompts(content: bytes) -> list[tuple[str, str]]:
    """Return the distinct prompts and human stories in order."""
    return list(dict.fromkeys((r["Prompt"], r["Human"]) for r in rows(content)))


def hanna_prompts(files: Files) -> bytes:
    """Convert the prompts and human stories."""
    csv.field_size_limit(1 << 24)
    return json_lines({"Prompt": prompt, "Human": human} for prompt, human in _prompts(only(files)))


def yelp(files: Files) -> bytes:
    """Convert outputs of twelve models on two test files, with human ratings and scores per sentence."""
    records: list[Record] = []
    for path in sorted(p for p in files if p.startswith("evaluations/human/content_preservation/")):
        system = path.rpartition("/")[2].removesuffix(".npy")
        records += _yelp_rows(files, system)
    return json_lines(records)


def _yelp_rows(files: Files, system: str) -> Iterator[Record]:
    model, _, setting = system.partition("_")
    style = {"0": "negative", "1": "positive"}
    texts = [
        (source, style[k], output)
        for k in style
        for source, output in zip(
            files[f"data/sentiment.test.{k}"].decode().splitlines(),
            files[f"transfer_model_outputs/{model}/{setting}/sentiment.test.{k}.tsf"].decode().splitlines(),
            strict=True,
        )
    ]
    human = "evaluations/human"
    content = array(files[f"{human}/content_preservation/{system}.npy"])
    intensity = array(files[f"{human}/style_transfer_intensity/{system}.npy"])
    rated = files.get(f"{human}/naturalness/{system}.npz")
    natural = arrays(rated) if rated else {}
    metrics = _yelp_metrics(files, system, model)
    for i, (source, source_style, output) in enumerate(texts):
        yield {
            "system": system,
            "i": i,
            "source": source,
            "source_style": source_style,
            "output": output,
            "human_content_preservation": float(content[i]),
            "human_style_transfer_intensity": float(intensity[i]),
            "human_naturalness": {name: values[i] for name, values in natural.items()} or None,
            "metrics": {name: values[i] for name, values in metrics.items()},
        }


def _yelp_metrics(files: Files, system: str, model: str) -> Mapping[str, Any]:
    """Return the scores of every sentence by metric; the classifier of naturalness is that of the
    output's own model.
    """
    start = "evaluations/automated"
    content = arrays(files[f"{start}/content_preservation/sentence_level/{system}.npz"])
    metrics = {f"content.{mask}.{name}": content[mask][name] for mask in MASKS for name in CONTENT}
    emd = arrays(files[f"{start}/style_transfer_intensity/sentence_level/scores_based_on_emd/{system}.npz"])
    metrics |= {f"intensity_emd.{name}": values for name, values in emd.items()}
    natural = arrays(files[f"{start}/naturalness/sentence_level/{system}.npz"])
    for name in ("unigram", "neural"):
        values = natural[name]
        metrics[f"naturalness.{name}"] = values[model] if isinstance(values, dict) else values
    return metrics


def uber_topic(files: Files) -> bytes:
    """Convert comparisons of two texts on seven topics by three annotators each; rows without a key are not
    comparisons.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        "domain comparison key model_a model_b text_a text_b annotator_slot more_relevant fluency_a fluency_b".split()
    )
    for topic in TOPICS:
        table = list(csv.reader(io.StringIO(named(files, f"/{topic}.csv").decode())))
        for number, row in enumerate(table[1:]):
            if key := next((cell.strip() for cell in row if re.fullmatch(r"\s*\d+_\d+_\d+\s*", cell)), ""):
                # As in the authors' notebook, the numbers of both texts follow the input; their remainder identifies
                # the model.
                models = [VARIANTS[int(text) % len(VARIANTS)] for text in key.split("_")[1:]]
                for slot in range(3):
                    vote = row[2 + 4 * slot : 5 + 4 * slot]
                    same = [topic, f"{topic}-{number}", key, *models, *row[:2], f"slot{slot + 1}"]
                    chosen = vote[0].upper() if len(vote[0]) == 1 else vote[0].lower()
                    writer.writerow([*same, chosen, *vote[1:]])
    return out.getvalue().encode()
