"""Data-to-text: BAGEL, SFHOTEL and SFREST, RankME, WebNLG+ 2020."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from nlgauge.datasets.convert.plain_pickle import pickled
from nlgauge.datasets.convert.reading import Files, json_lines, named, objects, only, rows

PRIVATE = ("_created_at", "_channel", "_country", "_region", "_city")
RESULTS = "evaluation/human-evaluation/results"
TABLES = "evaluation/human-evaluation/amt-scripts/data/en/tables/tables_xml.json"
ASPECTS = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")


def rated_outputs(files: Files, systems: Sequence[Sequence[object]]) -> bytes:
    """Convert outputs with references and median ratings from BARTScore; repeated references count once.

    `systems` gives the first row of each system, such as [[0, 'Dusek'], [202, 'LOLS']].
    """
    starts = [(int(str(start)), str(name)) for start, name in systems]
    records = []
    for i, r in pickled(only(files)).items():
        records.append(
            {"row": i, "system": [name for start, name in starts if start <= i][-1]}
            | {"src": r["src"], "sys_summ": r["sys_summ"], "ref_summs": list(dict.fromkeys(r["ref_summs"]))}
            | {"n_ref_summs_in_origin": len(r["ref_summs"]), "scores": r["scores"]}
        )
    return json_lines(records)


def unieval(files: Files) -> bytes:
    """Convert UniEval's predictions by the position of the output."""
    return json_lines(
        {"row": i, "doc_id": int(r["doc_id"]), "scores": r["scores"], "predict_scores": r["predict_scores"]}
        for i, r in enumerate(objects(only(files)))
    )


def rankme(files: Files) -> bytes:
    """Convert the table in the archive without time and place of the crowd workers, who become w000, w001, …."""
    with zipfile.ZipFile(io.BytesIO(only(files))) as archive:
        [name] = [n for n in archive.namelist() if n.endswith(".csv") and not n.startswith("__")]
        table = rows(archive.read(name))
    columns = [c for c in table[0] if c not in PRIVATE]
    workers = {w: f"w{i:03}" for i, w in enumerate(sorted({r["_worker_id"] for r in table}))}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for r in table:
        writer.writerow([workers[r[c]] if c == "_worker_id" else r[c] for c in columns])
    return out.getvalue().encode()


def webnlg(files: Files, language: str, name: str) -> bytes:
    """Convert ratings of individual workers, the released means, and (English) texts and triples of every system and
    input.
    """
    released = objects(named(files, f"{name}_humeval_data_all_teams.json"))
    single = {
        PurePosixPath(path).parts[-2]: json.loads(content)
        for path, content in files.items()
        if path.startswith(f"{RESULTS}/{language}/") and path.endswith("/primary.json")
    }
    triples = {k: _triples(v) for k, v in json.loads(files[TABLES]).items()} if TABLES in files else {}
    texts = dict(_texts(files))
    records = []
    for r in released:
        system, sample = r["submission_id"], r["sample_id"]
        lines = texts.get(system)
        records.append(
            {"lang": language, "system": system, "sample_id": sample, "size": r["size"], "domain": r.get("domain")}
            | {"category": r["category"], "triples": triples.get(sample)}
            | {"text": lines[int(sample) - 1] if lines else None}
            | {"released_mean": {a: r[a] for a in ASPECTS}}
            | {"ratings": [{"worker": w} | v for w, v in single[system][sample].items()]}
        )
    return json_lines(records)


def _texts(files: Files) -> Iterator[tuple[str, list[str]]]:
    for path, content in files.items():
        if path.endswith("/primary.en"):
            yield PurePosixPath(path).parts[-2], content.decode().split("\n")


def _triples(table: str) -> list[list[str]]:
    cells = re.findall(r'<td class="tg-0lax">(.*?)</td>', table, re.DOTALL)
    return [cells[i : i + 3] for i in range(0, len(cells), 3)]
