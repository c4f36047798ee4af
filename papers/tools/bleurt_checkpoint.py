"""Convert a BLEURT checkpoint of Google (TensorFlow) to the format of transformers, without TensorFlow.

    python papers/tools/bleurt_checkpoint.py bleurt-base-128 -o bleurt-base-128-converted
    nlgauge score outputs.csv -m "bleurt(model='./bleurt-base-128-converted')"

The folder is read as Google publishes it (bleurt-tiny, -base and -large, 128 or 512). The index of a TensorFlow
checkpoint is a sorted table in the format of LevelDB: blocks of keys with shared prefixes, a block of blocks, and a
footer. Its values are small protocol buffers that say where in the data files a tensor lies. Nothing is executed.
"""

from __future__ import annotations

import argparse
import json
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

CONFIG, INDEX = "bleurt_config.json", Path("variables") / "variables.index"
LAYER = re.compile(r"layer_(\d+)")
SUFFIXES = {"kernel": "weight", "gamma": "weight", "beta": "bias", "bias": "bias"}
FOOTER, MAGIC = 48, 0xDB4775248B80FB57
TRAILER = 5  # after each block: its compression and a checksum
KINDS = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8", 19: "<f2"}  # TensorFlow's numbers of types


def convert(folder: Path, out: Path) -> None:
    """Write the weights, the configuration and the tokenizer of a checkpoint to the folder `out`."""
    import torch
    import transformers

    config = read_config(folder)
    bert = json.loads((folder / config["bert_config_file"]).read_text("utf-8"))
    weights = {
        new: torch.from_numpy(table.T.copy() if old.endswith("kernel") else table.copy())
        for old, table in tensors(folder / INDEX).items()
        if (new := renamed(old))
    }
    model = transformers.BertForSequenceClassification(transformers.BertConfig(**bert, num_labels=1))
    missing, unknown = model.load_state_dict(weights, strict=False)
    if missing := [n for n in missing if not n.endswith("position_ids")]:
        raise ValueError(
            f"no weights for {', '.join(missing[:3])} among its {len(weights)} tensors ({len(missing)} missing); "
            "it is not a BLEURT on BERT"
        )
    if unknown:
        raise ValueError(f"{', '.join(unknown[:3])} have no place in a BERT ({len(unknown)})")
    tokenizer = transformers.BertTokenizerFast(
        str(folder / config["vocab_file"]),
        do_lower_case=bool(config.get("do_lower_case", True)),
        model_max_length=int(config.get("max_seq_length", 512)),
    )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


def read_config(folder: Path) -> dict[str, Any]:
    """Read bleurt_config.json and check that the files it names are there."""
    config = {"bert_config_file": "bert_config.json", "vocab_file": "vocab.txt"}
    # Only names of files in the folder, never paths to other places.
    given = json.loads((folder / CONFIG).read_text("utf-8"))
    config |= {k: Path(v).name if isinstance(v, str) else v for k, v in given.items()}
    if config.get("sp_model") or config.get("dynamic_seq_length"):
        raise ValueError(
            "it is a BLEURT-20 (RemBERT with SentencePiece), which this script does not convert; use a copy in the "
            "format of transformers, or bleurt-tiny, -base or -large (128 or 512)"
        )
    for path in (folder / INDEX, folder / config["bert_config_file"], folder / config["vocab_file"]):
        if not path.is_file():
            raise ValueError(f"{path.relative_to(folder)} is missing")
    return config


def renamed(old: str) -> str:
    """The name of a variable in transformers; '' for what scoring does not need (steps, the optimizer's state).

    >>> renamed("bert/encoder/layer_3/attention/self/query/kernel")
    'bert.encoder.layer.3.attention.self.query.weight'
    >>> renamed("dense/bias"), renamed("global_step"), renamed("dense/bias/adam_m")
    ('classifier.bias', '', '')
    """
    *where, end = old.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE").split("/")
    if where[:1] == ["bert"]:
        if end.endswith("_embeddings"):
            return ".".join([*where, end, "weight"])
        return LAYER.sub(r"layer.\1", ".".join([*where, SUFFIXES[end]])) if end in SUFFIXES else ""
    return f"classifier.{SUFFIXES[end]}" if where == ["dense"] and end in SUFFIXES else ""


class Place(NamedTuple):
    """Where a tensor lies: type, shape, number of the data file, first byte, bytes."""

    kind: int
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int


def tensors(index: Path) -> dict[str, Any]:
    """Name -> array, for all tensors of numbers; `index` is the file that ends in .index.

    Step counters and the like of other types are left out.
    """
    places = dict(_places(index))
    shards = 1 + max((p.shard for p in places.values()), default=0)
    found = {}
    for name, place in places.items():
        if place.kind not in KINDS:
            continue
        path = index.with_name(f"{index.stem}.data-{place.shard:05d}-of-{shards:05d}")
        if not path.is_file():
            raise ValueError(f"{path}: no such file; a checkpoint is its .index with its .data files.")
        count = int(np.prod(place.shape, dtype=np.int64))
        kind = np.dtype(KINDS[place.kind])
        if place.size != count * kind.itemsize or path.stat().st_size < place.offset + place.size:
            raise ValueError(f"{path}: '{name}' does not fit its shape; the file is damaged.")
        found[name] = np.fromfile(path, kind, count, offset=place.offset).reshape(place.shape)
    return found


def _places(index: Path) -> Iterator[tuple[str, Place]]:
    data = index.read_bytes()
    try:
        if len(data) < FOOTER or struct.unpack("<Q", data[-8:])[0] != MAGIC:
            raise ValueError("its footer is another one")
        _, _, at = _handle(data, len(data) - FOOTER)  # the block of properties is not needed
        offset, size, _ = _handle(data, at)
        for _, where in _entries(data, offset, size):
            begin, length, _ = _handle(where, 0)
            for key, value in _entries(data, begin, length):
                if key:  # the empty key is the header
                    yield key.decode("utf-8"), _place(value)
    except (ValueError, IndexError, struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"{index}: not the index of a TensorFlow checkpoint ({error}).") from None


def _handle(data: bytes, at: int) -> tuple[int, int, int]:
    """Offset and size of a block, and where to read on."""
    offset, at = _varint(data, at)
    size, at = _varint(data, at)
    return offset, size, at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _entries(data: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of a block; a key says how much of the one before it it shares."""
    block = data[offset : offset + size]
    if len(data) < offset + size + TRAILER or data[offset + size] != 0:
        raise ValueError("a block is compressed or cut off")
    (restarts,) = struct.unpack("<I", block[-4:])
    end, at, key = size - 4 * (restarts + 1), 0, b""
    while at < end:
        shared, at = _varint(block, at)
        new, at = _varint(block, at)
        length, at = _varint(block, at)
        key = key[:shared] + block[at : at + new]
        yield key, block[at + new : at + new + length]
        at += new + length


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Fields of a protocol buffer: number, and a whole number or bytes."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield tag >> 3, value
        elif kind == 2:
            size, at = _varint(data, at)
            yield tag >> 3, data[at : at + size]
            at += size
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise ValueError("a field of an unknown kind")


def _place(value: bytes) -> Place:
    told: dict[int, Any] = {1: 0, 3: 0, 4: 0, 5: 0}
    shape: tuple[int, ...] = ()
    for number, given in _fields(value):
        if number == 2:
            sizes = [dict(_fields(dim)).get(1, 0) for n, dim in _fields(given) if n == 2]
            shape = tuple(int(s) for s in sizes)
        elif number == 7:
            raise ValueError("a tensor in slices")
        elif number in told:
            told[number] = given
    return Place(told[1], shape, told[3], told[4], told[5])


def main(args: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the checkpoint as Google publishes it")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the folder to write")
    given = parser.parse_args(args)
    try:
        convert(given.folder, given.output)
    except (OSError, ValueError) as error:
        print(f"{given.folder}: not converted: {error}", file=sys.stderr)
        return 2
    print(f"{given.output}: use it as bleurt(model={str(given.output.resolve())!r})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
