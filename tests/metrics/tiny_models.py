"""Models of a few hundred random weights, built from a configuration and saved as safetensors, with a word tokenizer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("NLGAUGE_THREADS", "1")  # threads of tiny models only wait for each other
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<mask_1>"]
WORDS = (
    "a the cat dog sat ran on near mat park . , ? ! it is was not tea Yes No question: Is this Paris Anna London "
    "yellow flower garden house green river window morning evening _go _eos news about hl <hl> where who lives in "
    "summary: document: claim: response: fact: reference: Wow boring interesting computers politics religion science"
).split()
VOCABULARY = [*SPECIAL, *dict.fromkeys(WORDS)]
IDS = {word: i for i, word in enumerate(VOCABULARY)}
CLS, SEP = IDS["[CLS]"], IDS["[SEP]"]


def ids(text: str) -> list[int]:
    return [IDS.get(word, IDS["[UNK]"]) for word in text.split()]


def tokenizer(folder: Path, single: str | None, pair: str | None = None, **more: Any) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel(dict(IDS), unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if single:
        words.post_processor = processors.TemplateProcessing(
            single=single, pair=pair, special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
        )
    made = PreTrainedTokenizerFast(
        tokenizer_object=words,
        pad_token="[PAD]",
        unk_token="[UNK]",
        mask_token="[MASK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        additional_special_tokens=["<mask_1>"],
        **more,
    )
    made.save_pretrained(folder)


def build(kind: str, folder: Path, seed: int = 7, length: int = 64, **more: Any) -> str:
    """Save a model of that kind: gpt2, llama, bart, t5, masked, classifier, qa, tokens."""
    for package in ("torch", "transformers", "tokenizers"):
        pytest.importorskip(package, reason=f"extra 'neural' is not installed ({package})")
    import torch
    import transformers as tf

    torch.set_num_threads(1)
    n = len(VOCABULARY)
    small = {"vocab_size": n, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
             "intermediate_size": 24,
             "max_position_embeddings": length, "initializer_range": 0.6, **more}  # fmt: skip
    ends = {"bos_token_id": CLS, "eos_token_id": SEP, "pad_token_id": 0}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model: Any
        if kind == "gpt2":
            model = tf.GPT2LMHeadModel(
                tf.GPT2Config(
                    vocab_size=n, n_embd=16, n_layer=2, n_head=2, n_positions=length, initializer_range=0.6, **ends
                )
            )
        elif kind == "llama":
            model = tf.LlamaForCausalLM(tf.LlamaConfig(**{**small, **ends}, num_key_value_heads=1))
        elif kind == "bart":
            model = tf.BartForConditionalGeneration(
                tf.BartConfig(
                    vocab_size=n,
                    d_model=16,
                    encoder_layers=1,
                    decoder_layers=1,
                    encoder_attention_heads=2,
                    decoder_attention_heads=2,
                    encoder_ffn_dim=24,
                    decoder_ffn_dim=24,
                    max_position_embeddings=length,
                    init_std=0.6,
                    decoder_start_token_id=SEP,
                    forced_eos_token_id=SEP,
                    **ends,
                )
            )
        elif kind == "t5":
            model = tf.T5ForConditionalGeneration(
                tf.T5Config(
                    vocab_size=n,
                    d_model=16,
                    d_kv=8,
                    d_ff=24,
                    num_layers=1,
                    num_heads=2,
                    initializer_factor=3.0,
                    decoder_start_token_id=0,
                    pad_token_id=0,
                    eos_token_id=SEP,
                )
            )
        else:
            name = {
                "masked": "MaskedLM",
                "classifier": "SequenceClassification",
                "qa": "QuestionAnswering",
                "tokens": "TokenClassification",
            }[kind]
            model = getattr(tf, f"BertFor{name}")(tf.BertConfig(**small))
    model.eval().save_pretrained(folder)
    if kind in ("gpt2", "llama"):
        tokenizer(folder, None, bos_token="[CLS]", eos_token="[SEP]", model_max_length=length)
    elif kind in ("bart", "t5"):
        tokenizer(
            folder, "[CLS] $A [SEP]" if kind == "bart" else "$A [SEP]", eos_token="[SEP]", model_max_length=length
        )
    else:
        names = ["input_ids", "token_type_ids", "attention_mask"]
        pair = "[CLS] $A [SEP] $B:1 [SEP]:1"
        tokenizer(folder, "[CLS] $A [SEP]", pair, model_max_length=length, model_input_names=names)
    return str(folder)
