"""Settings of a judge (model, prompt, scale, temperature …) from its signature, and their changes between two runs."""

from __future__ import annotations

HASHED = ("endpoint", "prompt")  # a difference of hashes says only that the setting changed


def fingerprint(signature: str | None) -> dict[str, str]:
    """Return the settings in the signature of a judge.

    >>> fingerprint("model:gpt-4|prompt:1a2b|n:1")
    {'model': 'gpt-4', 'prompt': '1a2b', 'n': '1'}
    """
    parts = (part.partition(":") for part in str(signature or "").split("|"))
    return {k: v for k, colon, v in parts if colon and k != "version"}


def made_otherwise(old: str | None, new: str | None) -> list[str]:
    """Return the differences between two signatures in words; empty if one of them is unknown.

    >>> made_otherwise("model:a|prompt:1", "model:b|prompt:2")
    ['model a → b', 'another prompt']
    """
    first, second = fingerprint(old), fingerprint(new)
    if not first or not second:
        return []
    return [
        f"another {k}" if k in HASHED else f"{k} {first.get(k, 'none')} → {second.get(k, 'none')}"
        for k in {**first, **second}
        if first.get(k) != second.get(k)
    ]
