"""Machine translation: MLQE-PE and the WMT23 metrics task."""

from __future__ import annotations

import ast
import csv
import io
import tarfile
from collections.abc import Iterator
from pathlib import PurePosixPath

import polars as pl

from nlgauge.datasets.convert.reading import Files, Record, below, json_lines, named, numbers_of, rows

WMT = "data/mt-metrics-eval-v2/wmt23"
CAMPAIGN = "data/campaign-ruction-rc5"
# The other campaigns of English-German, in the order of the mirror.
CAMPAIGNS = ("ESA-1", "ESA-2", "MQM-1", "ESAAI-1", "ESAAI-2", "LLM", "ESA-IAA", "MQM-IAA")


def mlqe(files: Files, pair: str) -> bytes:
    """Convert the direct assessments of a language pair, with nine metrics by the position of the sentence."""
    with tarfile.open(fileobj=io.BytesIO(named(files, f"{pair}-test.tar.gz"))) as archive:
        [name] = [n for n in archive.getnames() if n.endswith(".df.short.tsv") and "/._" not in n]
        file = archive.extractfile(name)
        content = file.read() if file else b""
    metrics = [r for r in rows(named(files, "MLQE.csv")) if r["Utterance"] == pair]
    by_place = {int(r["System"]): r for r in metrics}
    lines = csv.DictReader(io.StringIO(content.decode("utf-8-sig")), delimiter="\t", quoting=csv.QUOTE_NONE)
    return json_lines(_assessed(pair, r, by_place[i]) for i, r in enumerate(lines))


def _assessed(pair: str, r: dict[str, str], scores: dict[str, str]) -> Record:
    return {
        "lp": pair,
        "index": int(r.get("index") or r["segid"]),
        "original": r["original"],
        "translation": r["translation"],
        "scores": ast.literal_eval(r["scores"]),
        "mean": float(r["mean"]),
        "z_scores": ast.literal_eval(r["z_scores"]),
        "z_mean": float(r["z_mean"]),
        "model_scores": float(r["model_scores"]),
        "metrics": numbers_of(scores, [c for c in scores if c not in ("System", "Utterance", "H:mlqe")]),
    }


def wmt23_segments(files: Files, pair: str) -> bytes:
    """Convert outputs, human scores and metric scores to Parquet with one row per system and segment."""
    outputs = {
        PurePosixPath(path).stem: content.decode().split("\n")[:-1]
        for path, content in below(files, f"{WMT}/system-outputs/{pair}/")
    }
    systems = sorted(outputs)
    keys = [(system, seg) for system in systems for seg in range(len(outputs[system]))]
    columns: dict[str, object] = {
        "system": [system for system, _ in keys],
        "seg": [seg for _, seg in keys],
        "output": [outputs[system][seg] for system, seg in keys],
    }
    for name, content in _human(files, pair):
        columns[f"human.{name}"] = _column(content, keys)
    for path, content in below(files, f"{WMT}/metric-scores/{pair}/"):
        name = PurePosixPath(path).name.removesuffix(".seg.score")
        columns[f"metric.{name}"] = pl.Series(_column(content, keys), dtype=pl.Float32)
    out = io.BytesIO()
    pl.DataFrame(columns).write_parquet(out, compression="uncompressed", statistics=False)
    return out.getvalue()


def _human(files: Files, pair: str) -> Iterator[tuple[str, bytes]]:
    for name in ("mqm", "da-sqm"):
        yield name, files[f"{WMT}/human-scores/{pair}.{name}.seg.score"]
    for name in CAMPAIGNS if pair == "en-de" else ():
        yield name, files[f"{CAMPAIGN}/{pair}.{name}.seg.score"]


def _column(content: bytes, keys: list[tuple[str, int]]) -> list[float | None]:
    """Return the scores of a file that lists the segments of each system in order; None is a missing score."""
    lists: dict[str, list[float | None]] = {}
    for line in content.decode().splitlines():
        system, _, score = line.replace(" ", "\t").partition("\t")
        lists.setdefault(system, []).append(None if score.strip() == "None" else float(score))
    return [lists[system][seg] if seg < len(lists.get(system, ())) else None for system, seg in keys]


def wmt23_inputs(files: Files, pair: str) -> bytes:
    """Convert sources, references and documents of every segment."""
    sources = files[f"{WMT}/sources/{pair}.txt"].decode().split("\n")[:-1]
    documents = [line.split("\t") for line in files[f"{WMT}/documents/{pair}.docs"].decode().splitlines()]
    references = {
        name: files[f"{WMT}/references/{pair}.{name}.txt"].decode().split("\n")[:-1]
        for name in ("refA", "synthetic_ref")
    }
    return json_lines(
        {"seg": i, "source": source, "refs": {n: lines[i] for n, lines in references.items()}, "doc": documents[i]}
        for i, source in enumerate(sources)
    )


def wmt23_systems(files: Files, pair: str) -> bytes:
    """Convert the system-level scores of human campaigns and of metrics."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["kind", "name", "system", "score"])
    for kind, folder in (("human", "human-scores"), ("metric", f"metric-scores/{pair}")):
        for path, content in below(files, f"{WMT}/{folder}/"):
            name = PurePosixPath(path).name
            if name.endswith(".sys.score") and (kind == "metric" or name.startswith(f"{pair}.")):
                label = name.removeprefix(f"{pair}.").removesuffix(".sys.score")
                for line in content.decode().splitlines():
                    system, _, score = line.partition("\t")
                    writer.writerow([kind, label, system, "" if score == "None" else float(score)])
    return out.getvalue().encode()
