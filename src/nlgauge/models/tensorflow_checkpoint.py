"""Tensors of a TensorFlow checkpoint (variables.index and its data files), read without TensorFlow.

The index is a sorted table in LevelDB's format: blocks of keys that share their beginnings, a block of blocks, a
footer. Its values are small protocol buffers: where in the data files a tensor lies. Nothing is executed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nlgauge.errors import NlgaugeError

FOOTER, MAGIC = 48, 0xDB4775248B80FB57
TRAILER = 5  # after each block: how it is compressed, and a checksum
KINDS = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8", 19: "<f2"}  # TensorFlow's numbers of types


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
            raise NlgaugeError(f"{path}: no such file; a checkpoint is its .index with its .data files.")
        count = int(np.prod(place.shape, dtype=np.int64))
        kind = np.dtype(KINDS[place.kind])
        if place.size != count * kind.itemsize or path.stat().st_size < place.offset + place.size:
            raise NlgaugeError(f"{path}: '{name}' does not fit its shape; the file is damaged.")
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
        raise NlgaugeError(f"{index}: no index of a TensorFlow checkpoint ({error}).") from None


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
