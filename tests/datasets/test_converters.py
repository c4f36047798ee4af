"""From the files of an origin to what the loaders read: each converter on small files in the original layout."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import polars as pl
import pytest

from nlgauge.datasets import converted, entries
from nlgauge.datasets.catalog import File, entry
from nlgauge.datasets.convert import data_to_text, dialogue, generation, reading, summarization, translation
from nlgauge.datasets.convert.plain_pickle import pickled
from nlgauge.datasets.converted import convert, digest
from nlgauge.datasets.origins import OriginFile, git_blob, origin_files, parts
from nlgauge.datasets.published_sets import get_set, not_downloadable
from nlgauge.errors import DataError, NlgaugeError


def lines(content: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in content.splitlines()]


def table(rows: list[dict[str, object]]) -> bytes:
    return pl.DataFrame(rows).write_csv().encode()


def npz(**arrays: object) -> bytes:
    out = io.BytesIO()
    np.savez(out, **{k: np.array(v, dtype=object) if isinstance(v, dict) else np.array(v) for k, v in arrays.items()})
    return out.getvalue()


def npy(values: list[float]) -> bytes:
    out = io.BytesIO()
    np.save(out, np.array(values))
    return out.getvalue()


def test_a_pickle_of_plain_values_is_read_and_one_that_names_a_function_is_refused() -> None:
    shared = [1, "x", None, -(2**70), True, b"\xff", 1.5]
    value = {"a": shared, "b": (shared, ()), "n": np.float64(0.5), "long": ["é" * 300, b"x" * 300, "x" * 70_000]}
    for protocol in range(6):
        assert pickled(pickle.dumps(value, protocol)) == value
    assert pickled(pickle.dumps({1, "x"})) == {1, "x"}
    with pytest.raises(DataError, match="only plain values"):
        pickled(pickle.dumps(subprocess.run))


@pytest.mark.parametrize("protocol", range(5))
def test_arrays_in_a_pickle_are_those_that_were_written(protocol: int) -> None:
    texts = np.array([["ab", None], [{"x": 1.5}, 2]], dtype=object)
    written = [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array(["é", "bc"]),
        texts,
    ]
    written += [np.array(3.5), np.arange(3, dtype=">i4"), np.array([], dtype=bool), np.float32(0.1), np.int64(7)]
    for array in written:
        read = pickled(pickle.dumps([array, array], protocol))
        np.testing.assert_array_equal(read[0], array)
        assert read[0].dtype == array.dtype
        assert read[1] is read[0] or np.isscalar(array)


class Hostile:
    """Runs code when it is unpickled."""

    def __init__(self, call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize(
    "call",
    [
        (subprocess.run, (["touch", "ran"],)),
        (np.ndarray, ((2,), object)),
        (np.dtype, ("V8",)),
        (np.load, ("x",)),
        (getattr, ("x", "upper")),
    ],
)
def test_what_a_pickle_would_call_is_refused_in_one_line(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="the pickle") as refused:
        pickled(pickle.dumps([1, Hostile(call)]))
    assert "\n" not in str(refused.value) and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "damaged", [b"", b"\x80\x04.", b"(", b"0.", b"R.", b"g7\n.", b"]a.", b"cnumpy\ndtype\n.", b"x"]
)
def test_a_damaged_pickle_is_one_line(damaged: bytes) -> None:
    with pytest.raises(DataError, match="pickle"):
        pickled(damaged)


def test_every_converter_exists_and_every_part_is_listed_with_a_commit() -> None:
    for e in entries():
        for f in (f for f in e.files if f.parts):
            assert f.convert
            for part in (p for pattern in f.parts for p in parts(pattern)):
                assert len(part.commit) == len(part.blob) == 40
    assert len({(f.repository, f.path) for f in origin_files()}) == len(origin_files())


def test_every_set_can_be_downloaded_or_says_where_its_file_is() -> None:
    for e in entries():
        for f in e.needed:
            assert f.downloadable or f.where, f"{e.name}: {f.path}"


def test_usr_joins_annotators_and_metrics_by_context() -> None:
    aspects = dict.fromkeys(dialogue.ASPECTS, 1)
    made = [
        {"fact": "f", "context": c, "annotators": who, "response": "r", "model": m, **aspects}
        | {"understandability_unieval": 0.5, "relev_met": 0.25}
        for c in ("c0", "c1")
        for m in ("Original Ground Truth", "A")
        for who in ("Ann", "Bob")
    ]
    metrics = [{"System": i, "Utterance": "M0", "H:overall": 1, "BLEU": 10.0 * i} for i in (0, 1)]
    files = {"data/t.csv": table(made), "final_df/s.csv": table(metrics)}
    found = lines(dialogue.usr(files, "t.csv", "s.csv", ["A"], first=5))
    assert [(r["context_id"], r["model"]) for r in found] == [
        (0, "Original Ground Truth"), (0, "A"), (1, "Original Ground Truth"), (1, "A")]  # fmt: skip
    assert [r["annotator"] for r in found[0]["ratings"]] == ["r5", "r6"]  # type: ignore[attr-defined]
    assert "metrics_rankingnlpsystems" not in found[0]
    assert found[3]["metrics_rankingnlpsystems"] == {"BLEU": 10.0}


def test_usr_scores_and_predictions_stand_with_their_turns() -> None:
    files = {
        "examples/undr/test.lm": b"a _eos _go b _eos\n\nc _eos _go d _eos\n",
        "examples/undr/mlm_roberta.scores": b"[-0.5, -0.25]",
        "examples/both/dr.scores": b"[0.5, 0.75]",
        "examples/fct/dr.scores": b"[1, 0]",
    }
    assert dialogue.usr_scores(files).decode().splitlines()[2] == "c _eos _go d _eos,-0.25,0.75,0"
    result = {"system_id": "s", "scores": {"consistency": 1.0}, "predict_scores": {"consistency": 0.5}}
    result["system_output"] = "text"
    content = {"x.json": json.dumps([result]).encode()}
    assert lines(dialogue.unieval(content))[0]["predict_scores"] == {"consistency": 0.5}
    assert lines(dialogue.qags(content))[0]["unieval_consistency"] == 0.5


def test_ctrleval_finds_metrics_by_the_text_and_openmeva_has_a_line_per_story() -> None:
    text = b"sports\tOnce\tOnce a game\t4.4\t2\t3\n"
    scores = table([{"attribute": "sports", "prefix": "Once", "output": " Once a  game", "cohere_met": -3.5}])
    (found,) = lines(generation.ctrleval({"data/t.txt": text, "data/s.csv": scores}))
    assert found["human"] == {"coherence": 4.4, "consistency": 2.0, "attribute_relevance": 3.0}
    assert found["metrics"] == {"cohere_met": -3.5}
    story = {"doc_id": "1", "prompt": "p", "reference": "r", "gen": {"s": {"text": "t", "score": {"human": 2, "b": 1}}}}
    (one,) = lines(generation.openmeva({"o.json": json.dumps([story]).encode()}))
    assert (one["system"], one["human"], one["metrics"]) == ("s", 2, {"b": 1})


def test_uber_topic_reads_models_from_the_key_and_leaves_rows_without_one_out() -> None:
    head = ",".join("abcdefghijklmnopqr")
    vote = "A text,B text,b,4,3,,both,5,2,,neither,1,1,,,,,19_131_633"
    files = {f"x/{t}.csv": f"{head}\n{vote}\nA,B,b,4,3,,b,4,2,,b,4,2,,,,,\n".encode() for t in generation.TOPICS}
    found = reading.rows(generation.uber_topic(files))
    assert len(found) == 3 * len(generation.TOPICS)
    assert (found[0]["model_a"], found[0]["model_b"], found[0]["more_relevant"]) == ("BCR", "BC", "B")
    assert [r["more_relevant"] for r in found[1:3]] == ["both", "neither"]


def test_yelp_puts_ratings_and_scores_next_to_each_sentence() -> None:
    scores = {mask: {name: [0.1, 0.2] for name in generation.CONTENT} for mask in generation.MASKS}
    files = {
        "data/sentiment.test.0": b"bad food\n",
        "data/sentiment.test.1": b"good food\n",
        "transfer_model_outputs/ARAE/lambda_1/sentiment.test.0.tsf": b"good food\n",
        "transfer_model_outputs/ARAE/lambda_1/sentiment.test.1.tsf": b"bad food\n",
        "evaluations/human/content_preservation/ARAE_lambda_1.npy": npy([4.0, 5.0]),
        "evaluations/human/style_transfer_intensity/ARAE_lambda_1.npy": npy([1.0, 2.0]),
        "evaluations/automated/content_preservation/sentence_level/ARAE_lambda_1.npz": npz(**scores),
        "evaluations/automated/style_transfer_intensity/sentence_level/scores_based_on_emd/ARAE_lambda_1.npz": npz(
            fasttext=[0.5, 0.6]
        ),
        "evaluations/automated/naturalness/sentence_level/ARAE_lambda_1.npz": npz(
            unigram={"ARAE": [0.3, 0.4], "CAAE": [0, 0]}, neural={"ARAE": [0.7, 0.8]}
        ),
    }
    first, second = lines(generation.yelp(files))
    assert (first["source_style"], second["source_style"]) == ("negative", "positive")
    assert second["human_content_preservation"] == 5.0
    assert first["human_naturalness"] is None
    metrics = second["metrics"]
    assert isinstance(metrics, dict)
    assert (metrics["content.unmasked.WMD"], metrics["naturalness.unigram"]) == (0.2, 0.4)


def test_hanna_has_a_row_per_story_and_leaves_an_ambiguous_story_out() -> None:
    models = {"Human": [3.0, 3.0], "A": [1.0, 2.0], "B": [1.0, 4.0]}
    scores = table(
        [{"Model": m, **{c: str(v) for c in generation.CRITERIA}, "BLEU": str(v)} for m, v in models.items()]
    )
    frame = pl.read_parquet(io.BytesIO(generation.hanna_scores({"s.csv": scores})))
    assert frame.select("model", "prompt_idx", "BLEU").row(3) == ("A", 1, 2.0)
    stories = [{"Prompt": f"p{i}", "Human": f"h{i}", "Story": "x", "Model": "L"} for i in (0, 1)]
    released = [
        {"prompt_id": f"P{i}", "story": f"{v}", **dict.fromkeys(generation.CRITERIA, str(v))}
        for i, v in ((0, 1.0), (0, 1.0), (1, 2.0), (1, 4.0))
    ]
    files = {
        "hanna_metric_scores_llm.csv": scores,
        "hanna_llm_stories.csv": table(stories),
        "data/hanna.jsonl": "\n".join(map(json.dumps, released)).encode(),
    }
    found = {(r["model"], r["prompt_idx"]): r["story"] for r in lines(generation.hanna_stories(files))}
    assert found["Human", 1] == "h1"
    assert (found["A", 0], found["A", 1], found["B", 1]) == (None, "2.0", "4.0")


def test_summeval_joins_four_releases() -> None:
    human = {"coherence": 1.0}
    documents = {"d1": {"src": "s", "ref_summs": ["r"], "ref_summ": "r", "sys_summs": {
        "M1": {"sys_summ": "One", "scores": human}, "M8": {"sys_summ": "Two", "scores": human}}}}  # fmt: skip
    annotated = {"id": "d1", "model_id": "M8", "decoded": "two", "filepath": "f", "references": ["r"], "text": "s"}
    annotated |= {"expert_annotations": [{"coherence": 2}], "turker_annotations": []}
    files = {
        "SUM/SummEval/data.pkl": pickle.dumps(documents),
        "final_df/SUM_EVAL.csv": table(
            [{"System": 0, "Utterance": f"M{j}", "H:c": 1, "BLEU": j + 0.5} for j in (0, 1)]
        ),
        "data/summeval.jsonl": "\n".join(
            json.dumps({"article_id": "A0", "summary_id": f"S{j}", "summary": w}) for j, w in enumerate(("one", "two"))
        ).encode(),
        "model_output_annotations/M8.jsonl": json.dumps(annotated).encode(),
    }
    first, second = lines(summarization.summeval_outputs(files))
    assert (first["decoded"], first["expert"], first["metrics"]) == ("one", None, {"BLEU": 0.5})
    assert (second["system"], second["expert"]) == ("M8", [{"coherence": 2}])
    assert lines(summarization.summeval_documents(files))[0]["src"] == "s"
    assert lines(summarization.summeval_sources(files))[0]["references"] == ["r"]
    assert lines(summarization.summeval_annotations(files))[0]["turker_annotations"] == []


def test_newsroom_joins_by_text_and_then_by_the_means_alone() -> None:
    def judged(number: int, text: str, value: int) -> dict[str, object]:
        rated = {a: {"individual_human_scores": [value, value + 1]} for a in summarization.ASPECTS}
        return {
            "id": number,
            "instance": f"### Generated Summary\n\n{text}\n\n### Source Article\n\nx",
            "annotations": rated,
        }

    scores = [dict.fromkeys(("informativeness", "relevance", "fluency", "coherence"), v + 0.5) for v in (1, 3)]
    documents = {"7": {"src": "s", "ref_summ": "r", "sys_summs": {
        "lede3": {"sys_summ": "A text .", "scores": scores[0]}, "rank": {"sys_summ": "Other", "scores": scores[1]}}}}  # fmt: skip
    files = {
        "data/newsroom/newsroom.json": json.dumps(
            {"instances": [judged(1, "a text.", 1), judged(2, "cut", 3)]}
        ).encode(),
        "SUM/Newsroom/data.pkl": pickle.dumps(documents),
    }
    found = lines(summarization.newsroom_outputs(files))
    assert [(r["system"], r["text_match"]) for r in found] == [("lede3", True), ("rank", False)]
    assert lines(summarization.newsroom_articles(files))[0] == {"article_id": "7", "src": "s", "ref_summ": "r"}


def test_realsumm_votes_find_their_article_by_the_summary() -> None:
    written = {"bart.txt": {"system_summary": "<t> a b </t>", "scores": {"x": 1}}}
    dicts = {5: {"ref_summ": "<t> r </t>", "system_summaries": written}}
    vote = {
        "Input.eventId": "e",
        "Input.summaryId": "bart",
        "Input.qIdList": "['1', '2', '3']",
        "Input.summary_text": "a b",
    }
    vote |= {f"Input.statement_{n}": "u" if n < 3 else "BLANK" for n in range(1, 17)}
    vote |= {f"Answer.S{n}Answer": "p" if n == 1 else "n" for n in range(1, 17)}
    files = {f"scores_dicts/{s}.pkl": pickle.dumps(dicts if s == "abs" else {}) for s in ("abs", "ext")}
    files["human_annotations/SCUs_and_annotations/SCU_rating_results_abs_systems/bart.csv"] = table([vote])
    files["SUM/REALSumm/data.pkl"] = pickle.dumps({5: {"src": "article"}})
    (found,) = lines(summarization.realsumm_votes(files))
    assert (found["doc_id"], found["votes"], found["qIdList"]) == (5, ["p", "n"], ["1", "2"])
    assert lines(summarization.realsumm_outputs(files))[0]["system"] == "bart"
    assert lines(summarization.realsumm_documents(files))[0]["src_from_bartscore_repo"] == "article"


def test_mlqe_reads_the_archive_with_either_name_of_the_index() -> None:
    for index in ("index", "segid"):
        body = f"{index}\toriginal\ttranslation\tscores\tmean\tz_scores\tz_mean\tmodel_scores\n"
        body += '3\ta "b\tc\t[90, 80]\t85\t[0.5, -0.5]\t0\t-0.25\n'
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as archive:
            info = tarfile.TarInfo("en-de/test20.ende.df.short.tsv")
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body.encode()))
        metrics = table([{"System": 0, "Utterance": "en-de", "H:mlqe": 1, "XBERTScore": 0.5}])
        (found,) = lines(translation.mlqe({"x/en-de-test.tar.gz": out.getvalue(), "MLQE.csv": metrics}, "en-de"))
        assert (found["index"], found["original"], found["scores"]) == (3, 'a "b', [90, 80])
        assert found["metrics"] == {"XBERTScore": 0.5}


def test_wmt_puts_the_scores_of_a_segment_on_its_row() -> None:
    w = translation.WMT
    files = {
        f"{w}/system-outputs/zh-en/B.txt": b"b0\nb1\n",
        f"{w}/system-outputs/zh-en/A.txt": b"a0\na1\n",
        f"{w}/human-scores/zh-en.mqm.seg.score": b"A\t-1\nA\tNone\nB\t-2\nB\t-3\n",
        f"{w}/human-scores/zh-en.da-sqm.seg.score": b"A\t70\nA\t80\n",
        f"{w}/metric-scores/zh-en/BLEU-refA.seg.score": b"A\t1\nA\t2\nB\t3\nB\t4\n",
        f"{w}/sources/zh-en.txt": b"s0\ns1\n",
        f"{w}/documents/zh-en.docs": b"news\td0\nnews\td0\n",
        **{f"{w}/references/zh-en.{r}.txt": b"r0\nr1\n" for r in ("refA", "synthetic_ref")},
        f"{w}/human-scores/zh-en.mqm.sys.score": b"A\t-1.5\n",
    }
    frame = pl.read_parquet(io.BytesIO(translation.wmt23_segments(files, "zh-en")))
    assert frame["human.mqm"].to_list() == [-1, None, -2, -3]
    assert frame["human.da-sqm"].to_list() == [70, 80, None, None]
    assert frame.row(3, named=True)["metric.BLEU-refA"] == 4
    assert lines(translation.wmt23_inputs(files, "zh-en"))[1]["refs"] == {"refA": "r1", "synthetic_ref": "r1"}
    assert translation.wmt23_systems(files, "zh-en").decode().splitlines()[1] == "human,mqm,A,-1.5"


def test_data_to_text_repeats_no_reference_and_drops_where_a_worker_was() -> None:
    given = {i: {"src": "m", "sys_summ": "o", "ref_summs": ["r", "r"], "scores": {"quality": 5.0}} for i in (0, 1)}
    found = lines(data_to_text.rated_outputs({"x.pkl": pickle.dumps(given)}, [[0, "Dusek"], [1, "LOLS"]]))
    assert [(r["system"], r["ref_summs"], r["n_ref_summs_in_origin"]) for r in found] == [
        ("Dusek", ["r"], 2), ("LOLS", ["r"], 2)]  # fmt: skip
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("f.csv", "_created_at,_worker_id,_city,mr\n1,99,London,x\n2,11,Paris,y\n")
    assert data_to_text.rankme({"a.zip": out.getvalue()}) == b"_worker_id,mr\nw001,x\nw000,y\n"


def test_webnlg_takes_the_text_of_the_sampled_line() -> None:
    aspects = dict.fromkeys(data_to_text.ASPECTS, 50.0)
    released = [{"submission_id": "S", "sample_id": "2", "size": "1", "domain": "d", "category": "c", **aspects}]
    cells = "".join(f'<td class="tg-0lax">{x}</td>' for x in ("s", "p", "o"))
    files = {
        f"{data_to_text.RESULTS}/en/english_humeval_data_all_teams.json": json.dumps(released).encode(),
        f"{data_to_text.RESULTS}/en/S/primary.json": json.dumps({"2": {"w": aspects}}).encode(),
        data_to_text.TABLES: json.dumps({"2": cells}).encode(),
        "submissions/rdf2text/en/S/primary.en": b"one\ntwo\n",
    }
    (found,) = lines(data_to_text.webnlg(files, "en", "english"))
    assert (found["text"], found["triples"], found["ratings"]) == (
        "two",
        [["s", "p", "o"]],
        [{"worker": "w", **aspects}],
    )


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """A server on loopback that has the files of the dictionary."""
    held: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            body = held.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("NLGAUGE_ORIGIN", f"http://127.0.0.1:{server.server_port}")
    yield held
    server.shutdown()


CONTENT = b"System,coherence\nA,1\n"
COMMIT = "0" * 40


def part(**change: object) -> OriginFile:
    blob = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT, usedforsecurity=False).hexdigest()
    facts = {"size": len(CONTENT), "sha256": digest(CONTENT), "blob": blob} | change
    return OriginFile("o/r", COMMIT, "data/t.csv", **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [{}, {"size": 0, "sha256": ""}], ids=["SHA-256", "git blob"])
def test_a_converted_file_is_checked_before_and_after(
    change: dict[str, object], origin: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was not seen is checked by git's name of its content; what another content gives is refused."""
    monkeypatch.setattr(converted, "parts", lambda pattern: [part(**change)])
    file = File("set/t.csv.gz", parts=("o/r data/t.csv",), convert="reading.unchanged", result=digest(CONTENT))
    address = f"/o/r/{COMMIT}/data/t.csv"
    origin[address] = CONTENT.replace(b"1", b"2")
    with pytest.raises(NlgaugeError, match="not the published file"):
        converted.converted(file, tmp_path, lambda *_: None)
    origin[address] = CONTENT
    made = converted.converted(file, tmp_path, lambda *_: None)
    assert converted.content_of(made) == CONTENT
    assert git_blob(tmp_path / "origins/o/r/data/t.csv") == part().blob
    del origin[address]  # a second run needs no network
    assert converted.converted(file, tmp_path, lambda *_: None) == made
    wrong = File("set/t.csv", parts=file.parts, convert=file.convert, result="0" * 64)
    with pytest.raises(NlgaugeError, match="the conversion gave SHA-256"):
        converted.converted(wrong, tmp_path, lambda *_: None)


def test_a_file_that_needs_a_browser_names_its_address_and_where_to_save_it(tmp_path: Path) -> None:
    done = get_set("gao2025-scores", to=tmp_path)
    words = not_downloadable("gao2025-scores", done, tmp_path)
    page = entry("gao2025-scores").files[0].page
    assert words == f"gao2025-scores: needs a browser: open {page} and save the file as {tmp_path / 'gao2025/data.csv'}"


def test_convert_runs_a_converter_by_name_with_options() -> None:
    assert convert("reading.unchanged", {"a": b"x"}) == b"x"
