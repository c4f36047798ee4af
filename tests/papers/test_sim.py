"""SIM: the formula of Han et al. (2013) worked by hand, and distances in WordNet beside nltk's reader."""

from __future__ import annotations

import itertools
import math
import warnings
from pathlib import Path

import pytest

from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.models.static_vectors import static_vectors
from nlgauge.text import wordnet as _wordnet
from nlgauge_papers.novikova2017 import wordnet_distance as _distance
from nlgauge_papers.novikova2017 import wordnet_relations as _relations
from nlgauge_papers.novikova2017.meaning_similarity import content_terms

WORDS = (
    "hotel building structure inn restaurant cheap inexpensive expensive dear music musical price pricey child kid "
    "good bad quickly fast eat food dog animal hound run serve service near close moderate reasonable centre center"
).split()


@pytest.fixture(scope="module")
def ready() -> None:
    for package in ("wordllama", "tokenizers", "safetensors"):
        pytest.importorskip(package, reason=f"extra 'vectors' is not installed ({package})")
    try:
        _wordnet.wordnet_folder()
    except NeedsMissing as missing:
        pytest.skip(str(missing))


def sim(output: str, source: str, options: str = "") -> float:
    return float(metric_from_spec(f"sim({options})").score(Batch.from_columns([output], [source])).values[0])


def cosine(a: str, b: str) -> float:
    u, v = static_vectors().of([a, b])
    return float(u @ v)


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize(
    ("a", "b", "steps"),
    [("cheap", "inexpensive", 0), ("inn", "hotel", 1), ("hotel", "building", 1), ("music", "musical", 1)],
)
def test_a_relation_adds_its_share_to_the_cosine(a: str, b: str, steps: int) -> None:
    near = cosine(a, b)
    assert near >= 0.1
    expected = min(1.0, (near if near >= 0.2 else 0.0) + 0.5 * math.exp(-0.25 * steps))
    assert sim(a, f"inform({b})") == pytest.approx(expected, abs=1e-9)
    assert sim(a, f"inform({b})", "wordnet=False") < expected


@pytest.mark.usefixtures("ready")
def test_alignment_and_penalties_by_hand() -> None:
    """'hotel' finds itself; of 'seven' and the number 4 neither finds anything: a penalty of 1 each, over 2n."""
    output, source = "hotel 4", "inform(hotel,7)"
    aligned = 1 / (2 * 2) + 1 / (2 * 2)
    assert sim(output, source, "penalties=False") == pytest.approx(aligned)
    assert sim(output, source) == pytest.approx(max(0.0, aligned - 1 / (2 * 2) - 1 / (2 * 2)))


@pytest.mark.usefixtures("ready")
def test_an_antonym_costs_its_similarity_and_a_half() -> None:
    near = cosine("cheap", "expensive")
    assert sim("cheap hotel", "inform(expensive hotel)", "penalties=False") == pytest.approx((near + 1) / 2)
    assert sim("cheap hotel", "inform(expensive hotel)") == pytest.approx((near + 1) / 2 - (near + 0.5) / 2)


def test_terms_of_a_meaning_representation_are_slots_and_values_without_the_act() -> None:
    found = content_terms("inform_no_match(area='upper market',kids_allowed=no)")
    assert found == ["area", "upper", "market", "kids", "allowed", "no"]
    assert content_terms("There is a hotel in the upper market area.") == ["hotel", "upper", "market", "area"]


@pytest.mark.usefixtures("ready")
def test_sim_is_1_for_the_same_terms_and_higher_for_near_words() -> None:
    sources = ["inform(price='cheap',type=hotel)"] * 3
    outputs = ["price cheap type hotel", "an inexpensive inn", "the violin sonata"]
    found = metric_from_spec("sim").score(Batch.from_columns(outputs, sources)).values
    assert found[0] == pytest.approx(1)
    assert found[0] > found[1] > found[2]
    scores = metric_from_spec("sim").score(Batch.from_columns(["", "hotel"], ["hotel", "()"]))
    assert scores.reasons == {1: "empty source"}


@pytest.mark.usefixtures("ready")
def test_against_references_the_best_one_counts() -> None:
    metric = metric_from_spec("sim(against='references')")
    assert metric.facts.needs == {"output", "references"}
    batch = Batch.from_columns(["a quiet hotel"], references=[["noise", "the quiet hotel"]])
    assert metric.score(batch).values[0] == pytest.approx(1.0)


def test_wrong_options_are_one_clear_line() -> None:
    with pytest.raises(NlgaugeError, match=r"against must be source or references\. Got 'mr' instead"):
        metric_from_spec("sim(against='mr')")


def test_without_wordnet_the_message_says_how_to_score_without(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wordllama", reason="extra 'vectors' is not installed (wordllama)")
    monkeypatch.setattr(_wordnet, "_places", lambda: iter([Path("nowhere")]))
    with pytest.raises(NeedsMissing, match=r"wordnet-base.*sim\(wordnet=False"):
        metric_from_spec("sim").ready()  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.usefixtures("ready")
def test_distances_and_antonyms_equal_a_walk_with_nltks_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All senses on both sides: which senses count as frequent is ours and switched off here."""
    reader = pytest.importorskip("nltk.corpus.reader.wordnet")
    copy = tmp_path / "corpora" / "wordnet"
    copy.mkdir(parents=True)
    for file in _wordnet.wordnet_folder().iterdir():
        if file.suffix == ".exc" or file.name.startswith(("index.", "data.")):
            (copy / file.name).write_bytes(file.read_bytes().replace(b"\r", b""))
    (copy / "index.sense").touch()
    (copy / "lexnames").write_text("".join(f"{k:02d}\tname.{k}\t1\n" for k in range(45)))
    monkeypatch.setattr("nltk.data.path", [str(tmp_path)])
    monkeypatch.setattr(_relations, "OFTEN", -1)
    for kept in (_relations.senses, _distance._forms, _distance._around, _relations.related):
        kept.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = reader.WordNetCorpusReader(str(copy), None)

    def around(word: str) -> list[set[object]]:
        up = side = set(theirs.synsets(word))
        found = [set(up)]
        for _ in range(2):
            up = {h for s in up for h in (*s.hypernyms(), *s.instance_hypernyms())}
            side = {t for s in side for t in s.similar_tos()}
            found.append(up | side)
        return found

    def joined(word: str, relation: str) -> set[str]:
        own = [  # a list: nltk takes lemmas of one name for equal
            n
            for s in theirs.synsets(word)
            for n in s.lemmas()
            if theirs.morphy(word, s.pos().replace("s", "a")) == n.name()
        ]
        return {t.name() for n in own for t in getattr(n, relation)()}

    def distance(a: str, b: str) -> int | None:
        near, far = around(a), around(b)
        found = [d for d in range(3) if near[d] & far[0] or far[d] & near[0]]
        if b in joined(a, "derivationally_related_forms") or a in joined(b, "derivationally_related_forms"):
            found.append(1)
        return min(found, default=None)

    for a, b in itertools.combinations(WORDS, 2):
        assert _distance.distance(a, b) == distance(a, b), (a, b)
        assert _distance.antonyms(a, b) == (b in joined(a, "antonyms") or a in joined(b, "antonyms")), (a, b)
    for kept in (_relations.senses, _distance._forms, _distance._around, _relations.related):
        kept.cache_clear()
