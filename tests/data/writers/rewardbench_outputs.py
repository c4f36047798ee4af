"""What wrote rewardbench_outputs.jsonl: a tiny reward model with random weights, and rewardbench on it, without a GPU."""

import json
from pathlib import Path

import torch
from rewardbench.rewardbench import main
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    AutoModelForSequenceClassification,
    BatchEncoding,
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
)

WORDS = "[UNK] [PAD] What is the capital of France Italy Spain ? Paris Lyon Rome Milan Madrid .".split()
words = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
words.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]")
tokenizer.chat_template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
tokenizer.save_pretrained("tiny-rm")
torch.manual_seed(1)
config = BertConfig(
    vocab_size=len(WORDS),
    hidden_size=8,
    num_hidden_layers=1,
    num_attention_heads=1,
    intermediate_size=8,
    num_labels=1,
    initializer_range=1.0,
    pad_token_id=1,
)
BertForSequenceClassification(config).save_pretrained("tiny-rm")
with Path("pairs.jsonl").open("w") as f:
    for i, (c, good, bad) in enumerate(
        [("France", "Paris.", "Lyon."), ("Italy", "Rome.", "Milan."), ("Spain", "Madrid.", "Barcelona.")]
    ):
        ask = {"role": "user", "content": f"What is the capital of {c}?"}
        sides = {s: [ask, {"role": "assistant", "content": a}] for s, a in (("chosen", good), ("rejected", bad))}
        f.write(json.dumps({"prompt": ask["content"], **sides, "subset": "capitals", "id": i}) + "\n")
# rewardbench asks for a GPU in two places.
real = AutoModelForSequenceClassification.from_pretrained
AutoModelForSequenceClassification.from_pretrained = lambda *a, **k: real(*a, **{**k, "device_map": "cpu"})
BatchEncoding.to = lambda self, *a, **k: self
main()
