"""SUPERT, SummaQA and ROUGE-WE beside the package summ-eval (Yale-LILY/SummEval) on the same weights and vectors."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from programs import (
    OTHER,
    SOURCE,
    SUMMARIES,
    agree,
    batch,
    bert,
    installed,
    ours,
    program,
    stand_in,
    tokenizers_as_they_were,
)

LONG = " ".join([SOURCE, OTHER, SOURCE])  # more than fifteen sentences
SOURCES = [SOURCE, OTHER, LONG, LONG]


@pytest.fixture
def stop(monkeypatch: pytest.MonkeyPatch) -> frozenset[str]:
    """nltk's word lists and sentence splitter are files that no package carries: ours stand in for both."""
    installed("summ_eval", "gin")
    import nltk.corpus
    import nltk.tokenize

    from nlgauge.text.sentences import sentences
    from nlgauge.text.stopwords import STOP

    monkeypatch.setattr(nltk.corpus, "stopwords", SimpleNamespace(words=lambda *_: sorted(STOP)))
    monkeypatch.setattr(nltk.tokenize, "sent_tokenize", sentences)
    return STOP


def test_supert_equals_summ_eval(stop: frozenset[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = bert("model", tmp_path / "0_BERT")
    where = Path(str(program("summ_eval").__path__[0]))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(where)]))  # it looks there
    monkeypatch.setattr(np, "row_stack", np.vstack, raising=False)  # numpy's name of it until 2.0
    metric = program("summ_eval.supert_metric")
    utils = program("summ_eval.supert_utils")
    models = program("summ_eval.sentence_transformers.models")
    transformer = program("summ_eval.sentence_transformers").SentenceTransformer
    made = models.BERT(folder)
    encoder = transformer(modules=[made, models.Pooling(made.get_word_embedding_dimension())], device="cpu")
    monkeypatch.setattr(metric, "SentenceTransformer", lambda _: encoder)
    for module in (metric, utils):
        monkeypatch.setattr(module, "sent_tokenize", __import__("nltk").tokenize.sent_tokenize)
    monkeypatch.setattr(utils, "stopwords", SimpleNamespace(words=lambda *_: sorted(stop)))
    theirs = metric.SupertMetric().evaluate_batch(SUMMARIES, SOURCES, aggregate=False)
    found = ours(f"supert(encoder={folder!r})", batch(SUMMARIES, SOURCES))
    agree("supert", found, [t["supert"] for t in theirs], 1e-5)
    assert np.ptp(found) > 0.05


def test_summaqa_equals_summ_eval_where_nothing_is_padded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The questions come from spaCy there; here our rule of capitals asks both, and the answers are compared.

    summ-eval pads every question and text to 384 tokens, and its softmax is over the padding as well: its probabilities
    are too small by what the padding takes. It may also answer with the closing [SEP], which is no word of the summary.
    With room for the question and the text only, and another answer than [SEP], both agree.
    """
    installed("summ_eval")
    import torch
    import transformers as tf

    from nlgauge.metrics.learned.question_answering import CAPITALS, MARK
    from nlgauge.models.answering import cloze

    tokenizers_as_they_were(monkeypatch)
    folder = bert("QuestionAnswering", tmp_path)
    utils = program("summ_eval.summa_qa_utils")
    for name in ("BertTokenizer", "BertForQuestionAnswering"):
        found = getattr(tf, name).from_pretrained(folder)
        monkeypatch.setattr(utils, name, SimpleNamespace(from_pretrained=lambda _, found=found: found))
    made = utils.QA_Metric(use_gpu=False)
    said: list[str] = []
    predict = made.model.predict

    def heard(*given: Any) -> Any:
        answers, probabilities = predict(*given)
        said.extend(answers)
        return answers, probabilities

    monkeypatch.setattr(made.model, "predict", heard)
    compared = 0
    for source in SOURCES[:2]:
        for question, answer in cloze(source, CAPITALS, MARK):
            sentence = question.replace(MARK, answer)  # alone as the source it asks this question, and perhaps others
            asked = cloze(sentence, CAPITALS, MARK)
            for summary in SUMMARIES:
                with torch.inference_mode():
                    padded = made.compute(*map(list, zip(*asked, strict=True)), summary)["summaqa_avg_prob"]
                    said.clear()
                    told = []
                    for one, right in asked:
                        made.max_seq_len = len(made.model.tokenizer(one, summary)["input_ids"])
                        told.append(made.compute([one], [right], summary))
                    made.max_seq_len = 384
                if any("[SEP]" in a or not a for a in said):
                    continue
                value = ours(f"summaqa(entities='capitals', qa={folder!r})", batch([summary], [sentence]))
                agree("summaqa, prob", value, [float(np.mean([t["summaqa_avg_prob"] for t in told]))], 1e-6)
                assert padded < value[0]
                compared += 1
    assert compared > 5


@pytest.mark.parametrize("n", [1, 2, 3])
def test_rouge_we_with_preset_s3_equals_summ_eval(stop: frozenset[str], n: int) -> None:
    """The same vectors in both. Without soft matches (a floor of 1) our own form is the same ROUGE-N, too."""
    pytest.importorskip("wordllama", reason="extra 'vectors' is not installed (wordllama)")
    from nlgauge.metrics.embedding.word_vectors import S3_WORD, vector

    utils = program("summ_eval.s3_utils")
    outputs, references = [*SUMMARIES[:3], SOURCE, OTHER], [SOURCE, OTHER, SOURCE, OTHER, SOURCE]
    given = batch(outputs, references=references)
    vectors = {w: vector(w) for t in (*outputs, *references) for w in S3_WORD.findall(t.lower())}

    def theirs(embeddings: dict[str, Any], part: int) -> list[float]:
        return [
            utils.rouge_n_we([s], [r], embeddings, n, return_all=True, tokenize=True)[part]
            for s, r in zip(outputs, references, strict=True)
        ]

    for part, of in enumerate("prf"):
        found = ours(f"rouge-we(preset='s3', n={n}, of={of!r})", given)
        agree(f"rouge-we s3, n={n}, {of}", found, theirs(vectors, part), 1e-9)
    hard = theirs({}, 2)
    assert found != pytest.approx(hard, abs=1e-3)  # soft matches were found
    if n < 3:  # a product of vectors does not know the order of its words: "it was the" is "was it the"
        agree(f"rouge-we, n={n}, floor 1", ours(f"rouge-we(n={n}, floor=0.999999)", given), hard, 1e-9)


class Word(str):
    """A token as spaCy gives it."""

    @property
    def text(self) -> str:
        return str(self)


@pytest.mark.parametrize("of", ["sms", "wms", "s+wms"])
def test_sms_equals_summ_eval(stop: frozenset[str], monkeypatch: pytest.MonkeyPatch, of: str) -> None:
    """spaCy's sentences, words and vectors are ours here; the bags, their weights and the transport (wmd) are theirs."""
    pytest.importorskip("wordllama", reason="extra 'vectors' is not installed (wordllama)")
    if importlib.util.find_spec("wmd") is None:  # C++, so not among what `make peers` installs
        pytest.skip("the program wmd is not installed: pip install --no-build-isolation wmd==1.3.2")
    from nlgauge.metrics.embedding.word_vectors import vector, words
    from nlgauge.text.windows import windows

    ids: dict[str, int] = {}

    class Strings:
        def __getitem__(self, word: str) -> int:
            return ids.setdefault(word, len(ids))

    vocabulary = SimpleNamespace(strings=Strings(), get_vector=lambda i: vector(list(ids)[i]).astype(np.float32))

    def read(text: str, **_: Any) -> Any:
        return SimpleNamespace(sents=[[Word(w) for w in words(s)] for s in windows(text, 1)])

    read.vocab = vocabulary  # type: ignore[attr-defined]
    stand_in(monkeypatch, "spacy", load=lambda _: read)
    monkeypatch.delitem(sys.modules, "summ_eval.sentence_movers_utils", raising=False)
    utils = program("summ_eval.sentence_movers_utils")
    other = OTHER.replace("3", "many")  # words are letters only there
    outputs, references = [*SUMMARIES[:3], SOURCE], [SOURCE, other, SOURCE, other]
    docs, texts = utils.tokenize_texts(list(zip(references, outputs, strict=True)), "glove", True)
    theirs = [utils.get_sim(d, t, "glove", None, of) for d, t in zip(docs, texts, strict=True)]
    found = ours(f"sms(of={of!r}, normalize=False)", batch(outputs, references=references))
    agree(f"sms, {of}, distance", (-np.log(found)).tolist(), (-np.log(theirs)).tolist(), 1e-4)
    assert np.ptp(np.log(found)) > 1
