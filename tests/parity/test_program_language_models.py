"""Perplexity, lm-score and BARTScore beside the packages minicons and lm-scorer, on the same weights."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import OTHER, SOURCE, SUMMARIES, VOCABULARY, agree, batch, bert, installed, ours, tokenizers_as_they_were

SOURCES = [SOURCE, OTHER, SOURCE, OTHER]
CLS, SEP = VOCABULARY.index("[CLS]"), VOCABULARY.index("[SEP]")


def small(kind: str, folder: Path) -> str:
    """A GPT-2 or BART of random weights that reads the word pieces; its begin and end are [CLS] and [SEP]."""
    import torch
    import transformers as tf
    from tokenizers import processors

    bert("model", folder)
    ends = {"bos_token_id": CLS, "eos_token_id": SEP, "pad_token_id": 0}
    made: Any
    with torch.random.fork_rng():
        torch.manual_seed(8)
        if kind == "gpt2":
            made = tf.GPT2LMHeadModel(
                tf.GPT2Config(
                    vocab_size=len(VOCABULARY),
                    n_embd=24,
                    n_layer=2,
                    n_head=2,
                    n_positions=512,
                    initializer_range=0.5,
                    **ends,
                )
            )
        else:
            made = tf.BartForConditionalGeneration(
                tf.BartConfig(
                    vocab_size=len(VOCABULARY),
                    d_model=24,
                    encoder_layers=1,
                    decoder_layers=1,
                    encoder_attention_heads=2,
                    decoder_attention_heads=2,
                    encoder_ffn_dim=32,
                    decoder_ffn_dim=32,
                    max_position_embeddings=512,
                    init_std=0.5,
                    decoder_start_token_id=SEP,
                    forced_eos_token_id=SEP,
                    **ends,
                )
            )
    made.eval().save_pretrained(folder)
    tokenizer = tf.AutoTokenizer.from_pretrained(folder)
    words = tokenizer.backend_tokenizer
    if kind == "gpt2":
        words.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    tf.PreTrainedTokenizerFast(
        tokenizer_object=words,
        bos_token="[CLS]",
        eos_token="[SEP]",
        pad_token="[PAD]",
        unk_token="[UNK]",
        model_max_length=512,
    ).save_pretrained(folder)
    return str(folder)


@pytest.fixture
def gpt2(tmp_path: Path) -> str:
    installed()
    return small("gpt2", tmp_path)


def test_perplexity_and_lm_score_equal_minicons(gpt2: str, monkeypatch: pytest.MonkeyPatch) -> None:
    installed("minicons")
    tokenizers_as_they_were(monkeypatch)
    from minicons import scorer

    theirs = scorer.IncrementalLMScorer(gpt2, "cpu")
    logs = theirs.sequence_score(SUMMARIES, bos_token=True)
    agree(
        "perplexity, minicons",
        np.log(ours(f"perplexity(lm={gpt2!r})", batch(SUMMARIES))),
        [-float(v) for v in logs],
        1e-5,
    )
    after = theirs.conditional_score(SOURCES, SUMMARIES, separator=" ", bos_token=True)
    found = ours(f"lm-score(join=' ', lm={gpt2!r})", batch(SUMMARIES, SOURCES))
    agree("lm-score, minicons", found, [float(v) for v in after], 1e-5)


def test_perplexity_equals_lm_scorer(gpt2: str) -> None:
    installed("lm_scorer")
    from lm_scorer.models.gpt2 import GPT2LMScorer

    theirs = GPT2LMScorer(gpt2, eos=False).sentence_score(SUMMARIES, log=True, reduce="gmean")
    found = [-math.log(v) for v in ours(f"perplexity(lm={gpt2!r})", batch(SUMMARIES))]
    agree("perplexity, lm-scorer", found, theirs, 1e-5)


def test_bartscore_equals_minicons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed("minicons")
    tokenizers_as_they_were(monkeypatch)
    from minicons import scorer

    folder = small("bart", tmp_path)
    # It adds no marks: the model's own are written out, as BARTScore's tokenizer sets them.
    read, asked = ([f"[CLS] {t} [SEP]" for t in texts] for texts in (SOURCES, SUMMARIES))
    theirs = scorer.Seq2SeqScorer(folder, "cpu").conditional_score(read, asked)
    found = ours(f"bartscore(model={folder!r})", batch(SUMMARIES, SOURCES))
    agree("bartscore, minicons", found, [float(v) for v in theirs], 1e-5)
