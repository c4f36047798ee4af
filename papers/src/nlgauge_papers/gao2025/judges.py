"""Real judges on SummEval: 43,512 released replies of GPT-3.5, GPT-4 and Llama 2, parsed by NLGauge, and the experts.

`nlgauge reproduce gao2025 judges` prints the agreement of each judge, and the effect of averaging and coarser scales on
every measure (Gao et al. 2025, sections 1 and 4.4, with real judges). GPT-3.5 has five prompt styles; their mean
represents several draws of one judge.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from statistics import fmean

import polars as pl

from nlgauge import Dataset, Table, analyze
from nlgauge.datasets import load_set, mirror_folder
from nlgauge.judges import Scale, parse_reply
from nlgauge_papers import Sources, further

FIVE, OPTIONS = Scale.parse("1-5"), Scale.parse("A-E")
STYLES = ("rts", "altrts", "mcq", "altmcq", "stareval")


def ratings(mirror: Path, aspect: str) -> dict[str, dict[tuple[str, str], float]]:
    """Return judge -> (system, document) -> rating; replies without a rating are left out; the first of duplicates
    counts.
    """
    results: dict[str, dict[tuple[str, str], float]] = {}
    with gzip.open(mirror / "summeval" / "summeval_llm_judge_responses.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["aspect"] == aspect:
                parsed = parse_reply(row["resp"], OPTIONS if "mcq" in row["method"] else FIVE)
                if parsed.value is not None:
                    own = results.setdefault(f"{row['evaluator']} {row['method']}", {})
                    own.setdefault((row["system"], row["id"]), parsed.value)
    return results


def judged_set(aspect: str, mirror: str | Path | None = None) -> Dataset:
    """Return SummEval's twelve judged systems with one column per judge; GPT-3.5's five styles also as draws of one
    judge.
    """
    data = load_set("summeval", mirror=mirror)
    read = ratings(mirror_folder(mirror), aspect)
    styles = [name for style in STYLES for name in read if name.endswith(f" {style}") and name.startswith("gpt-3.5")]
    for k, name in enumerate(styles):
        read[f"gpt-3.5, 5 prompts#{k + 1}"] = read.pop(name) if k else dict(read[name])
    keys = {key for name in read if name.startswith("gpt-3.5, 5") for key in read[name]}
    read["gpt-3.5, 5 prompts"] = {
        key: fmean(read[n][key] for n in read if n.startswith("gpt-3.5, 5 prompts#") and key in read[n]) for key in keys
    }
    systems = {system for values in read.values() for system, _ in values}
    part = data.where(data.samples.filter(pl.col("system").is_in(sorted(systems))))
    rows = part.samples.select("system", "input").rows()
    return part.only_metrics([]).with_scores({name: [values.get(row) for row in rows] for name, values in read.items()})


@further("gao2025", "judges", title="Real judges on SummEval: 43,512 released replies", sets=["summeval"])
def study(sources: Sources) -> list[Table]:
    """Report the agreement of each judge, and the effect of averaging and coarser scales on every measure."""
    tables = []
    for aspect in ("coherence", "consistency", "fluency", "relevance"):
        data = judged_set(aspect, sources.mirror)
        tables += [analyze("judges", data, aspect), analyze("fineness", data.panel(aspect))]
    return tables
