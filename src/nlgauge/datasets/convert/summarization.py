"""Summaries: SummEval, Newsroom, REALSumm."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping

from nlgauge.datasets.convert.plain_pickle import pickled
from nlgauge.datasets.convert.reading import Files, Record, below, json_lines, named, numbers_of, objects, rows

ANNOTATIONS = "model_output_annotations/"
ASPECTS = ("Informativeness", "Relevance", "Fluency", "Coherence")


def _annotated(files: Files) -> Iterator[Record]:
    """Yield the lines of the twelve systems with individual ratings."""
    for _, content in below(files, ANNOTATIONS):
        yield from objects(content)


def summeval_outputs(files: Files) -> bytes:
    """Join texts and mean ratings (BARTScore), original texts (PPairS), experts (LLM_summeval) and 13 metrics."""
    documents = pickled(named(files, "SummEval/data.pkl"))
    metrics = {(int(r["System"]), int(r["Utterance"][1:])): _metrics(r) for r in rows(named(files, "SUM_EVAL.csv"))}
    originals = {(r["article_id"], r["summary_id"]): r["summary"] for r in objects(named(files, "summeval.jsonl"))}
    experts = {(r["id"], r["model_id"]): r["expert_annotations"] for r in _annotated(files)}
    records = []
    for i, (document, given) in enumerate(documents.items()):
        for j, (system, written) in enumerate(given["sys_summs"].items()):
            records.append(
                {
                    "doc_id": document,
                    "system": system,
                    "decoded": originals[f"A{i}", f"S{j}"],
                    "sys_summ": written["sys_summ"],
                    "human_mean": written["scores"],
                    "expert": experts.get((document, system)),
                    "metrics": metrics[i, j],
                }
            )
    return json_lines(records)


def _metrics(row: Mapping[str, str]) -> dict[str, float | None]:
    return numbers_of(row, [c for c in row if c not in ("System", "Utterance") and not c.startswith("H:")])


def summeval_sources(files: Files) -> bytes:
    """Convert the unchanged articles and eleven references, once per article."""
    seen: dict[str, Record] = {}
    for r in _annotated(files):
        seen.setdefault(r["id"], {k: r[k] for k in ("id", "filepath", "references", "text")})
    return json_lines(seen.values())


def summeval_annotations(files: Files) -> bytes:
    """Convert the individual ratings of three experts and five crowd workers for twelve systems."""
    names = ("id", "model_id", "decoded", "expert_annotations", "turker_annotations")
    return json_lines({k: r[k] for k in names} for r in _annotated(files))


def summeval_documents(files: Files) -> bytes:
    """Convert the articles and references as tokenized by BARTScore."""
    documents = pickled(named(files, "SummEval/data.pkl"))
    return json_lines(
        {"doc_index": i, "doc_id": name} | {"src": d["src"], "ref_summs": d["ref_summs"], "ref_summ": d["ref_summ"]}
        for i, (name, d) in enumerate(documents.items())
    )


def newsroom_articles(files: Files) -> bytes:
    """Convert the articles and references."""
    documents = pickled(named(files, "Newsroom/data.pkl"))
    return json_lines({"article_id": n, "src": d["src"], "ref_summ": d["ref_summ"]} for n, d in documents.items())


def newsroom_outputs(files: Files) -> bytes:
    """Join the single ratings (JUDGE-BENCH) with the systems (BARTScore) by the text and the means of the ratings.

    What no text matches is joined by its means alone, where only one output is left: `text_match` is then false.
    """
    rated: list[Record] = json.loads(named(files, "newsroom.json"))["instances"]  # of JUDGE-BENCH
    left: dict[tuple[str, str], Record] = {}
    for article, d in pickled(named(files, "Newsroom/data.pkl")).items():
        for system, written in d["sys_summs"].items():
            left[article, system] = written
    outputs: dict[int, tuple[tuple[str, str], bool]] = {}
    for by_text in (True, False):
        for r in (r for r in rated if r["id"] not in outputs):
            text, means = _summary(r), _means(r)
            fitting = [
                key
                for key, written in left.items()
                if _close(means, written["scores"]) and (not by_text or _bare(written["sys_summ"]) == _bare(text))
            ]
            if len(fitting) == 1:
                outputs[r["id"]] = fitting[0], by_text
                del left[fitting[0]]
    return json_lines(_rated(r, *outputs[r["id"]]) for r in rated)


def _summary(r: Record) -> str:
    text: str = r["instance"].partition("### Generated Summary\n\n")[2].partition("\n\n### Source Article")[0]
    return text


def _single(r: Record) -> dict[str, list[float]]:
    return {a: r["annotations"][a]["individual_human_scores"] for a in ASPECTS}


def _means(r: Record) -> dict[str, float]:
    return {a.lower(): sum(values) / len(values) for a, values in _single(r).items()}


def _close(means: Mapping[str, float], scores: Mapping[str, float]) -> bool:
    return all(abs(means[a] - scores[a]) < 1e-6 for a in means)


def _bare(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _rated(r: Record, key: tuple[str, str], by_text: bool) -> Record:
    article, system = key
    return {
        "article_id": article,
        "system": system,
        "system_summary": _summary(r),
        "ratings": _single(r),
        "judgebench_id": r["id"],
        "text_match": by_text,
    }


def realsumm_outputs(files: Files) -> bytes:
    """Convert the outputs of the abstractive and extractive systems with their scores."""
    return json_lines(
        {"doc_id": document, "split": split, "system": system.removesuffix(".txt")}
        | {"system_summary": written["system_summary"], "scores": written["scores"]}
        for split in ("abs", "ext")
        for document, d in pickled(named(files, f"scores_dicts/{split}.pkl")).items()
        for system, written in d["system_summaries"].items()
    )


def realsumm_documents(files: Files) -> bytes:
    """Convert the references, and the articles from the BARTScore repository."""
    sources = pickled(named(files, "REALSumm/data.pkl"))
    return json_lines(
        {"doc_id": n, "ref_summ": d["ref_summ"], "src_from_bartscore_repo": sources[n]["src"]}
        for n, d in pickled(named(files, "scores_dicts/abs.pkl")).items()
    )


def realsumm_votes(files: Files) -> bytes:
    """Convert the crowd votes to one line per worker and summary: whether each content unit is present; articles are
    joined by text.
    """
    documents: dict[str, int] = {}
    for split in ("abs", "ext"):
        for n, d in pickled(named(files, f"scores_dicts/{split}.pkl")).items():
            documents |= {_bare(re.sub(r"</?t>", " ", w["system_summary"])): n for w in d["system_summaries"].values()}
    votes: list[Record] = []
    events: dict[str, int] = {}
    for path, content in below(files, "human_annotations/SCUs_and_annotations/SCU_rating_results_"):
        folder, file = ("abs" if "_abs_systems" in path else "ext"), path.rpartition("/")[2]
        for r in rows(content):
            number = documents.get(_bare(r["Input.summary_text"]))
            if number is not None:
                events.setdefault(r["Input.eventId"], number)
            votes.append(_vote(folder, file, r))
    return json_lines(v | {"doc_id": events[v["eventId"]]} for v in votes)


def _vote(folder: str, file: str, r: Mapping[str, str]) -> Record:
    units = [n for n in range(1, 17) if r[f"Input.statement_{n}"] != "BLANK"]
    questions = ast.literal_eval(r["Input.qIdList"])
    return {
        "folder": folder,
        "file": file,
        "eventId": r["Input.eventId"],
        "summaryId": r["Input.summaryId"],
        "qIdList": questions[: len(units)],
        "votes": [_answer(r[f"Answer.S{n}Answer"]) for n in units],
    }


def _answer(text: str) -> str:
    return text.strip().lower()[:1]
