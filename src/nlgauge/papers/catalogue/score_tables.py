"""The score tables of colombo2023 (Colombo et al.): human and automatic scores without texts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import csv_table, numbers, unpivot

# The origin calls the input "System" and the system "Utterance"; the mirror says so in its column names.
HEADINGS = {
    "System": "input",
    "Utterance": "system",
    "input_index__origin_col_System": "input",
    "system__origin_col_Utterance": "system",
}


def load(folder: Path, name: str, path: str, people: tuple[str, ...] = ()) -> Dataset:
    frame = csv_table(folder / path).rename(HEADINGS, strict=False)
    human = {c: c.removeprefix("H:") for c in frame.columns if c.startswith("H:")}
    metrics = [c for c in frame.columns if c not in human and c not in KEY]
    return Dataset.of(
        name,
        frame.select(KEY),
        ratings=unpivot(frame, human),
        scores=frame.select(*KEY, *numbers(frame, metrics)),
        people=people,
        notes=[
            "the origin's headings for system and input are swapped; they stand right here",
            "numbers only",
        ],
    )


def _entry(name: str, *, file: File, people: tuple[str, ...] = (), **facts: Any) -> Entry:
    stem = Path(file.path).name.partition(".")[0]
    return Entry(
        name=name,
        raters="means or judgements without raters",
        licence="none stated",
        origins=(Origin("PierreColombo/RankingNLPSystems", "21c8cc7", f"final_df/{stem}.csv"),),
        papers=("colombo2023",),
        files=(file,),
        people=people,
        loader=partial(load, name=name, path=file.path, people=people),
        **{"missing": "Texts and single ratings."} | facts,
    )


def _file(name: str, size: int, sha256: str) -> File:
    return File(
        f"metric_score_tables/{name}.csv.gz",
        size,
        sha256,
        "CSV: input_index__origin_col_System, system__origin_col_Utterance, H:* (people), metrics; the origin's own file "
        "(System, Utterance, …), unpacked, is read as well",
    )


TAC = "Whether the human summarisers are among the 'systems' is not stated."
TAC_TEXTS = "Texts: they are under an agreement with NIST and not redistributed here."
USR_CITE = {
    "cite": "mehri-eskenazi-2020-usr",
    "reference": "Mehri, Eskenazi (2020). USR: An Unsupervised and Reference Free Evaluation Metric "
    "for Dialog Generation. ACL.",
}
USR = {
    "engaging": "1–3",
    "context": "1–3",
    "natural": "1–3",
    "overall": "1–5",
    "understandable": "0–1",
    "useknowledge": "0–1",
}
ENTRIES = (
    _entry(
        "tac08",
        title="TAC 2008 update summarisation, scores",
        task="summarisation",
        aspects={"pyr": "from 0, may pass 1", "resp": "0.2–1, of 1–5"},
        shape="62 systems × 48 inputs",
        file=_file("TAC_08", 169929, "c9c04726e89d1dde06a0c4b581d5d52d9842bf4c3808886c38d61f53b1aa8c36"),
        cite="dang-owczarzak-2008-overview",
        reference="Dang, Owczarzak (2008). Overview of the TAC 2008 Update Summarization Task. TAC.",
        missing=TAC_TEXTS,
        notes=(TAC,),
    ),
    _entry(
        "tac09",
        title="TAC 2009 update summarisation, scores",
        task="summarisation",
        aspects={"pyr": "from 0, may pass 1", "resp": "0.1–1, of 1–10"},
        shape="59 systems × 44 inputs",
        file=_file("TAC_09", 148844, "f7ffd7172da44e7de67d40d6a6bfd388b8a5ec1b4754ec6db7fac1f68413cfac"),
        cite="dang-owczarzak-2009-overview",
        reference="Dang, Owczarzak (2009). Overview of the TAC 2009 Summarization Track. TAC.",
        missing=TAC_TEXTS,
        notes=(TAC, "colombo2023 speaks of TAC10; its release has TAC_09."),
    ),
    _entry(
        "tac11",
        title="TAC 2011 guided summarisation, scores",
        task="summarisation",
        aspects={"pyr": "from 0, may pass 1", "resp": "0.2–1, of 1–5"},
        shape="54 systems × 44 inputs",
        file=_file("TAC_11", 215051, "581b7603da8637227d5491cde00ea3337595cbf1d3f620b1acee4d9a6ab68b1d"),
        cite="owczarzak-dang-2011-overview",
        reference="Owczarzak, Dang (2011). Overview of the TAC 2011 Summarization Track: Guided Task "
        "and AESOP Task. TAC.",
        missing=TAC_TEXTS,
        notes=(TAC,),
    ),
    _entry(
        "flickr",
        title="Flickr image descriptions, scores",
        task="image description",
        aspects={"overall": "1–4, mean"},
        shape="8 systems × 108 images",
        file=_file("FLICKR", 41283, "0cd740ca8986709c911f5dc44a4aa881849280c322be1fa2a4a361d4fe1387aa"),
        cite="young-etal-2014-image",
        reference="Young, Lai, Hodosh, Hockenmaier (2014). From Image Descriptions to Visual "
        "Denotations. TACL 2.",
    ),
    _entry(
        "realsumm-table",
        title="REALSumm, scores as in colombo2023",
        task="summarisation",
        aspects={"pyr": "0–1"},
        shape="25 systems (one is there twice) × 100 articles",
        file=_file("REAL_SUM", 110470, "9f2daa1dfd31db5e38a0a3754eb4e2ec0d7038916c227f4005f09956e3624bdc"),
        cite="bhandari-etal-2020-evaluating",
        reference="Bhandari, Gour, Ashfaq, Liu, Neubig (2020). Re-evaluating Evaluation in Text "
        "Summarization. EMNLP.",
        notes=("The set 'realsumm' has the texts.",),
    ),
    _entry(
        "usr-persona-table",
        title="USR Persona-Chat, scores as in colombo2023",
        task="dialogue",
        aspects=USR,
        shape="4 systems × 60 contexts",
        file=_file("DIALOG_pc", 10029, "65cb8547ab7ff050af99c98b7a5149ee6c595bbec51d6752ca4bc5f0b81d196e"),
        **USR_CITE,
        people=("M3",),
        notes=(
            "The set 'usr-persona' has texts, raters and these scores.",
            "M0 to M3 are KV-MemNN, Seq2Seq, Language Model, New Human Generated.",
        ),
    ),
    _entry(
        "usr-topical-table",
        title="USR Topical-Chat, scores as in colombo2023",
        task="dialogue",
        aspects=USR,
        shape="5 systems × 60 contexts",
        file=_file("DIALOG_tc", 16382, "a02446394fbc9b64d52646e77324f138dc3e2f8d5e0de12b5572af7c18fe38f3"),
        **USR_CITE,
        people=("M4",),
        notes=(
            "The set 'usr-topical' has texts, raters and these scores.",
            "M0 to M4 are Argmax, Nucleus 0.3, 0.5, 0.7, New Human Generated.",
        ),
    ),
    _entry(
        "mlqe-table",
        title="MLQE, scores as in colombo2023",
        task="machine translation",
        aspects={"mlqe": "mean z-score"},
        shape="7 language pairs × 1,000",
        file=_file("MLQE", 338651, "d336ed6497ebdc46699228d1cab1ad46037d1e871fdd16565b6345fbe8543375"),
        cite="fomicheva-etal-2022-mlqe",
        reference="Fomicheva et al. (2022). MLQE-PE: A Multilingual Quality Estimation and "
        "Post-Editing Dataset. LREC.",
        notes=("The set 'mlqe' has texts, raters and these scores.",),
    ),
    _entry(
        "summeval-table",
        title="SummEval, scores as in colombo2023",
        task="summarisation",
        aspects=dict.fromkeys(("coherence", "consistency", "fluency", "relevance"), "1–5"),
        shape="16 systems × 100 articles",
        file=File(
            "summeval/SUM_EVAL.RankingNLPSystems.csv",
            476044,
            "7be22f21969ef6de45f5bff79ec45dd11ae218bf12f3227ce3acb8c0d52307cb",
            "CSV: System (the input), Utterance (the system), H:* (people), 13 metrics",
            # Not said to be untouched when collected, but of the origin's size, with the same last lines.
            Origin(
                "PierreColombo/RankingNLPSystems",
                "58c8d00bbfde73dafef65544163966ba5e01b0c9",
                "final_df/SUM_EVAL.csv",
            ),
        ),
        cite="fabbri-etal-2021-summeval",
        reference="Fabbri et al. (2021). SummEval: Re-evaluating Summarization Evaluation. TACL 9.",
        notes=("The set 'summeval' has texts, raters and these scores.",),
    ),
)
