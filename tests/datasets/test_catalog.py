"""The catalogue's facts are complete and safe; no published data needed."""

from __future__ import annotations

import csv
import gzip
import inspect
import io
import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loops import for_each
from nlgauge.analyses.checklist.transfer_groups import GROUPS, transfer_groups
from nlgauge.cli import build
from nlgauge.data import load as files
from nlgauge.data.example import example
from nlgauge.datasets import Entry, entries, entry, load_set, mirror_folder
from nlgauge.datasets import catalog as catalogue
from nlgauge.datasets import load as catalogue_load
from nlgauge.datasets.download import inside
from nlgauge.datasets.origins import parts
from nlgauge.errors import DataError, NameUnknown, NeedsMissing, NotHere

ALL = entries()
PAPERS = {"nimah2023", "deng2021", "gao2025", "colombo2023", "novikova2017"}


def run(*arguments: str) -> str:
    result = CliRunner().invoke(build("data"), ["data", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@for_each(ALL, name=lambda e: e.name)
def test_every_entry_says_what_it_is_and_where_it_comes_from(e: Entry) -> None:
    for field in (e.title, e.task, e.raters, e.license, e.shape, e.size):
        assert field.strip()
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", e.name)
    assert re.fullmatch(r"[a-z][a-z0-9-]+-\d{4}-[a-z0-9]+", e.cite), e.cite
    assert re.search(r"\(\d{4}\)\. .+\.$", e.reference), e.reference
    assert e.aspects
    assert all(scale for scale in e.aspects.values())
    assert e.origins
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+", o.repository) for o in e.origins)
    assert all(re.fullmatch(r"[0-9a-f]{7}|[0-9a-f]{40}|unknown", o.commit) for o in e.origins)
    assert set(e.papers) <= PAPERS


@for_each(ALL, name=lambda e: e.name)
def test_a_set_has_files_and_a_loader_or_says_why_not(e: Entry) -> None:
    assert bool(e.files) == (e.loader is not None)
    if e.files:
        assert e.needed
    else:
        assert e.missing
        with pytest.raises(NeedsMissing, match=re.escape(e.missing[:40])):
            load_set(e.name)


@for_each([e for e in ALL if e.files], name=lambda e: e.name)
def test_files_are_pinned_by_size_and_hash_and_stay_in_their_folder(e: Entry, tmp_path: Path) -> None:
    for f in e.files:
        of_origins = [part for pattern in f.parts for part in parts(pattern)]
        pinned = bool(of_origins) and all(part.seen or len(part.blob) == 40 for part in of_origins)
        assert f.where or pinned or re.fullmatch(r"[0-9a-f]{64}", f.sha256)
        assert bool(f.result) == (pinned and all(part.seen for part in of_origins))
        assert f.layout
        assert inside(tmp_path, f.path).is_relative_to(tmp_path)
        if f.origin is not None:  # a short commit can become ambiguous, a branch can move
            assert re.fullmatch(r"[0-9a-f]{40}", f.origin.commit)
            assert f.origin.path


def test_a_file_that_two_sets_share_is_described_once() -> None:
    known: dict[str, tuple[int, str]] = {}
    for f in (f for e in ALL for f in e.files):
        assert known.setdefault(f.path, (f.size, f.sha256)) == (f.size, f.sha256)


def test_the_five_papers_all_have_their_sets() -> None:
    used = {paper: {e.name for e in ALL if paper in e.papers} for paper in PAPERS}
    assert {"summeval", "newsroom", "usr-persona", "usr-topical", "uber-topic", "ctrl-topic"} <= used["nimah2023"]
    assert {"summeval", "qags-cnndm", "qags-xsum", "yelp", "usr-persona", "usr-topical"} <= used["deng2021"]
    assert {"summeval", "wmt23-zh-en", "hanna", "openmeva", "mans-wp", "webnlg2020-en"} <= used["gao2025"]
    assert {"tac08", "tac09", "tac11", "flickr", "mlqe", "realsumm", "summeval"} <= used["colombo2023"]
    assert {"bagel-sf", "bagel-individual"} <= used["novikova2017"]


def test_what_is_missing_is_said() -> None:
    for name, word in (
        ("bagel-sf", "individual ratings"),
        ("tac08", "NIST"),
        ("summeval", "M0, M1, M2, M5"),
        ("openmeva", "MANS-WP"),
        ("uber-topic", "Metric scores"),
        ("hanna", "ids"),
    ):
        assert word in entry(name).missing


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(NameUnknown, match="Did you mean 'summeval'"):
        entry("sumeval")


def test_a_set_that_is_not_here_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nlgauge data get qags-xsum"):
        load_set("qags-xsum", tmp_path)
    with pytest.raises(NotHere, match=r"`nlgauge data get hanna` downloads it"):
        load_set("hanna", tmp_path)
    with pytest.raises(NotHere, match=r"`nlgauge data get mans-wp` shows where to get it"):
        load_set("mans-wp", tmp_path)


@for_each(ALL, name=lambda e: e.name)
def test_what_others_publish_is_not_said_to_be_lost(e: Entry) -> None:
    """A set without a loader says that it is published, and where."""
    assert e.files or "edistributed here" in e.missing
    assert not re.search(r"[Nn]o (public )?copy|cannot be had", e.missing)


USR_ASPECTS = entry("usr-topical").aspects
TURNS = "how are you ? _eos _go fine . _eos,-0.5,0.9,0.8"
MADE = {
    "tac11": {"metric_score_tables/TAC_11.csv": "System,Utterance,H:pyr,H:resp,BLEU\n0,M0,.5,.6,12\n0,M1,.4,.2,9\n"},
    "ctrl-topic": {
        "checklist/ctrl_topic.csv": ",text,domain,key,model,annotator,rating,relevance_bin,prefix,attribute,perplexity,bert_f1\n0,One,ctrl_legal,1_2_3,CTRL,ann,3,0,In,legal,20,.7\n1,One,ctrl_legal,1_2_3,CTRL,bob,4,1,In,legal,20,.7\n2,Two,ctrl_legal,1_2_3,BCR,ann,5,1,In,legal,30,.8\n"
    },
    "uber-topic": {
        "pplm_topic/uber_topic_comparisons.csv": "domain,comparison,key,model_a,model_b,text_a,text_b,annotator_slot,more_relevant,fluency_a,fluency_b\nlegal,legal-0,1_2_3,B,BC,<|endoftext|>One,<|endoftext|>Two,slot1,both,4.0,\n"
    },
    "usr-topical-scores": {
        "usr_dialogue/usr_topical_metric_scores.csv": f"turns,usr_mlm,usr_dr_context,usr_dr_fact\n{TURNS}\n",
        "usr_dialogue/usr_topical_chat.jsonl": "".join(
            json.dumps(
                {
                    "context_id": 0,
                    "model": m,
                    "context": "hi\nHow are you ?\n",
                    "fact": "f",
                    "response": r,
                    "metrics": {},
                    "ratings": [{"annotator": "r1", **dict.fromkeys(USR_ASPECTS, 1)}],
                }
            )
            + "\n"
            for m, r in (("Original Ground Truth", "good"), ("Argmax Decoding", "fine ."))
        ),
    },
}


HUMAN = {
    "checklist-newsroom": "CoherenceRating,FluencyRating,InformativenessRating,RelevanceRating,overall",
    "checklist-uber-topic": "rating,relevance_bin",
}
FOUR = "coherence,consistency,fluency,relevance,overall"
for made_name, made_system in (
    ("checklist-unieval-summ", "system_id"),
    ("checklist-summeval", "model_id"),
    ("checklist-newsroom", "System"),
    ("checklist-uber-topic", "model"),
):
    columns = HUMAN.get(made_name, FOUR)
    (made_file,) = entry(made_name).files
    given = ",".join("123451"[: columns.count(",") + 1])
    MADE[made_name] = {
        made_file.path.removesuffix(
            ".gz"
        ): f"{made_system},{columns},perplexity,bleu1\nM0,{given},9,.5\nM0,{given},8,.4\n"
    }
EXPERT = dict.fromkeys(("coherence", "consistency", "fluency", "relevance"), 4)
MADE |= {
    "summeval-17": {
        "summeval/model_annotations.aligned.jsonl": "".join(
            json.dumps(
                {
                    "id": "dm-1",
                    "model_id": m,
                    "decoded": "a text",
                    "references": ["one"],
                    "expert_annotations": [EXPERT] * 3,
                    "turker_annotations": [EXPERT] * 5,
                }
            )
            + "\n"
            for m in ("M23", "M23_dynamicmix")
        )
    },
    "summeval-scored": {
        "summeval/model_annotations.aligned.scored.jsonl": "".join(
            json.dumps(
                {
                    "id": "dm-1",
                    "model_id": m,
                    "decoded": "a text",
                    "references": ["one"],
                    "filepath": "x",
                    "expert_annotations": [EXPERT] * 3,
                    "turker_annotations": [EXPERT] * 5,
                    "metric_scores_1": {"rouge": {"rouge_1_f_score": 0.5}, "supert": [0.25]},
                    "metric_scores_11": {"meteor": 0.75, "supert": [0.5]},
                }
            )
            + "\n"
            for m in ("M23", "M23_dynamicmix")
        )
    },
    **{
        f"tac{year}-texts": {
            f"tac/tac.{year}.mds.gen.resp-pyr": json.dumps(
                {
                    "D0801": {
                        "references": [{"text": ["A reference .", "It goes on ."]}, {"text": ["Another ."]}],
                        "annotations": [
                            {"text": ["One .", "Two ."], "pyr_score": 0.5, "responsiveness": 4},
                            {"text": ["Three ."], "pyr_score": 0.25, "responsiveness": 2},
                        ],
                    }
                }
            )
        }
        for year in ("08", "09")
    },
    "mans-wp": {
        "openmeva/mags_wp.json": json.dumps(
            {
                "7": {
                    "prompt": "p",
                    "gold_response": "r",
                    "gen": {
                        "gpt": {"text": "one", "score": ["1", "2", "1", "3", "3"]},
                        "s2s": {"text": "two", "score": [4, 4, 5, 5, 2]},
                        "fusion": {"text": "three"},
                    },
                }
            }
        )
    },  # without ratings: left out
    "bagel-individual": {
        "bagel_sfhotel_sfrest/emnlp_data_individual_hum_scores.csv": "judge,dataset,system,sys_ref,informativeness,naturalness,quality\n"
        + "".join(f"{j},BAGEL,{s},x,{j},{j + 1},{j + 2}\n" for j in (1, 2, 3) for s in ("Dusek", "LOLS"))
    },
}


GAO = {"dataset": "SummEval", "ori_dataset": "CNN/DM", "aspect": "coherence", "new_seg_id": 7, "human_score": 0.5}
MADE |= {
    "gao2025-scores": {
        "gao2025/data.csv": f"{','.join(GAO)},sys_id,bleu,GPT4_T=0_1_5\n"
        + "".join(f"{','.join(map(str, GAO.values()))},M{k},.{k}1,.5\n" for k in (0, 1))
    },
    "gao2025-replies": {
        "gao2025/data_all_rescaled.json": json.dumps(
            [
                {**GAO, "sys_id": f"M{k}", "metric_scores": {"bleu": 0.5, "GPT4_T=1_1_5_all": [0.25, 0.75]}}
                for k in (0, 1)
            ]
        )
    },
}


def test_every_set_that_users_fetch_is_made_here() -> None:
    assert {e.name for e in ALL if not all(f.downloadable for f in e.needed)} <= set(MADE)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzipped"])
@pytest.mark.parametrize("name", MADE)
def test_a_set_to_fetch_loads_once_its_file_is_there(name: str, packed: bool, tmp_path: Path) -> None:
    """In the layout of its origin, plain or gzipped; before, the message names the command that gets it."""
    with pytest.raises(NotHere, match=f"`nlgauge data get {name}`"):
        load_set(name, tmp_path)
    for path, text in MADE[name].items():
        zipped = packed and f"{path}.gz" in {f.path for f in entry(name).files}
        target = tmp_path / (path + ".gz" if zipped else path)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    assert entry(name).here(tmp_path) == "yes"
    data = load_set(name, tmp_path)
    assert len(data) == 2
    assert set(data.aspects) <= set(entry(name).aspects)
    if name == "uber-topic":  # both are the more relevant; one fluency is missing
        assert data.ratings.height == 3
        assert data.samples["output"].to_list() == ["One", "Two"]
        assert data.comparisons.row(0) == ("legal-0", "B", "BC", "relevance", "r4", "tie")
    if name == "mans-wp":
        assert data.panel("overall").human.tolist() == [[2.0], [4.0]]
    if name == "summeval-17":
        assert sorted(data.systems) == ["M23", "M23_dynamicmix"]
        assert data.ratings.filter(aspect="coherence").height == 6
    if name == "summeval-scored":
        assert data.scores["metric_scores_11.meteor"].to_list() == [0.75, 0.75]
        assert data.scores["metric_scores_11.supert"].to_list() == [0.5, 0.5]
        assert data.scores["metric_scores_1.rouge.rouge_1_f_score"].to_list() == [0.5, 0.5]
    if name == "tac09-texts":
        assert data.samples["output"].to_list() == ["One . Two .", "Three ."]
        assert data.samples["references"].to_list()[1] == ["A reference . It goes on .", "Another ."]
        assert data.panel("resp").human.tolist() == [[4.0], [2.0]]
    if name == "bagel-individual":
        assert sorted(data.systems) == ["LOLS", "TGEN"]
        assert data.ratings.filter(system="TGEN", aspect="quality")["value"].to_list() == [3, 4, 5]
    if name == "checklist-summeval":
        assert data.metrics == ["perplexity", "bleu1"]
    if name == "usr-topical-scores":
        assert data.scores["usr_mlm"].to_list() == [None, -0.5]
    if name == "gao2025-scores":
        assert data.metrics == ["bleu", "GPT4_T=0_1_5"]
        assert data.samples["input"].to_list() == ["SummEval | CNN/DM | coherence | 7"] * 2
    if name == "gao2025-replies":
        assert data.metrics == ["bleu", "GPT4_T=1_1_5 #1", "GPT4_T=1_1_5 #2"]
        assert data.scores["GPT4_T=1_1_5 #2"].to_list() == [0.75, 0.75]
    if name == "ctrl-topic":
        assert data.ratings.filter(system="CTRL", aspect="fluency")["value"].to_list() == [3, 4]


@pytest.mark.skipif(sys.platform != "linux", reason="the cache folder of Linux")
def test_the_folder_given_wins_over_the_environment_over_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("NLGAUGE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert mirror_folder() == tmp_path / "cache" / "nlgauge" / "data"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert mirror_folder() == tmp_path / ".cache" / "nlgauge" / "data"
    monkeypatch.setenv("NLGAUGE_DATA", str(tmp_path / "env"))
    assert mirror_folder() == tmp_path / "env"
    assert mirror_folder(tmp_path / "given") == tmp_path / "given"


def test_adding_a_set_takes_one_file_and_no_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    facts = {
        "title": "Mine",
        "task": "dialogue",
        "raters": "one",
        "license": "MIT",
        "cite": "me-2026-mine",
        "reference": "Me.",
    }
    lines = [f'{key} = "{value}"' for key, value in facts.items()]
    (tmp_path / "mine.toml").write_text(
        "\n".join(["[sets.mine]", *lines, 'aspects = {overall = "1-5"}', 'origins = ["a/b@0123456 x.csv"]'])
    )
    monkeypatch.setattr(catalogue, "FACTS", tmp_path)
    catalogue._found.cache_clear()
    try:
        assert entry("mine").title == "Mine"
        assert str(entry("mine").origins[0]) == "a/b @0123456 x.csv"
    finally:
        catalogue._found.cache_clear()


def test_a_published_set_takes_every_option_of_load_that_was_left_at_its_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the command line passes them: an option of files must not reach the loader of a set."""
    monkeypatch.setattr(catalogue_load, "load_set", lambda name, **options: options or example())
    keywords = inspect.signature(files.load).parameters.values()
    defaults = {p.name: p.default for p in keywords if p.kind is p.KEYWORD_ONLY and p.name != "name"}
    assert catalogue_load.load("summeval", **defaults).systems == example().systems
    with pytest.raises(DataError, match="columns of a published set are known"):
        catalogue_load.load("summeval", ignore=["coherence"])


# --- Table 3 of nimah2023 ---


def test_table_3_puts_each_data_set_in_one_group_for_each_family() -> None:
    cells = transfer_groups()
    assert len({(c.family, c.dataset) for c in cells}) == len(cells)
    assert {c.family for c in cells} == {"BLEU", "ROUGE", "BERTScore", "Perplexity", "CTC", "CTRLEval", "UniEval"}
    assert {c.group for c in cells} == set(GROUPS)


@pytest.mark.parametrize(
    ("family", "dataset", "group"),
    [
        ("BLEU", "Newsroom", "ID"),
        ("ROUGE", "USR-PC", "semantic-shift"),
        ("BERTScore", "UBER-Topic", "domain-shift"),
        ("Perplexity", "summEval", "domain-shift"),
        ("Perplexity", "USR-TC", "ID"),
        ("CTC", "CTC-TC", "ID"),
        ("CTRLEval", "CtrlEval-Topic", "ID"),
        ("CTRLEval", "summEval", "semantic-shift"),
        ("CTRLEval", "USR-PC", "domain-shift"),
        ("UniEval", "UniEval-TC", "ID"),
        ("UniEval", "USR-TC", "semantic-shift"),
        ("UniEval", "CtrlEval-Topic", "domain-shift"),
    ],
)
def test_table_3_as_printed(family: str, dataset: str, group: str) -> None:
    assert [c.group for c in transfer_groups() if (c.family, c.dataset) == (family, dataset)] == [group]


def test_every_data_set_of_table_3_is_in_the_catalogue() -> None:
    assert {c.set_name for c in transfer_groups()} <= {e.name for e in ALL}


# --- nlgauge data list | show ---


def test_list_prints_every_set_for_people_and_for_machines(tmp_path: Path) -> None:
    table = run("list", "--mirror", str(tmp_path))
    rows = json.loads(run("list", "--format", "json", "--mirror", str(tmp_path)))["tables"][0]["rows"]
    lines = list(csv.DictReader(io.StringIO(run("list", "--format", "csv", "--mirror", str(tmp_path)))))
    assert [r["set"] for r in rows] == [r["set"] for r in lines] == [e.name for e in ALL]
    assert all(e.name in table for e in ALL)
    assert {r["here"] for r in rows} == {"no", "–"}


def test_list_keeps_to_a_task_or_a_paper() -> None:
    assert {r["task"] for r in json.loads(run("list", "--task", "dialogue", "-f", "json"))["tables"][0]["rows"]} == {
        "dialogue"
    }
    assert all(
        "novikova2017" in r["papers"]
        for r in json.loads(run("list", "--paper", "novikova2017", "-f", "json"))["tables"][0]["rows"]
    )


@for_each(ALL, name=lambda e: e.name)
def test_show_says_licence_citation_origin_and_what_is_missing(e: Entry) -> None:
    shown = run("show", e.name, "--format", "csv")
    for fact in (e.license, e.cite, e.origins[0].repository, e.missing, *e.human_systems, *(f.path for f in e.files)):
        assert fact in shown.replace('""', '"')
    facts = json.loads(run("show", e.name, "--format", "json"))["tables"][0]["facts"]
    assert facts["name"] == e.name
    assert facts["aspects"] == e.aspects


def test_show_says_what_is_downloaded_what_is_converted_and_what_needs_a_browser() -> None:
    shown = " ".join(run("show", "qags-cnndm").split())
    assert "`nlgauge data get` downloads it from W4ngatang/qags" in shown
    assert "`nlgauge data get` makes it from maszhongming/UniEval" in shown
    assert "open https://drive.google.com/" in " ".join(run("show", "gao2025-scores").split())
