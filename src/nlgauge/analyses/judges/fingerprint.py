"""How a judge was made, by its signature: model, prompt, scale, temperature …; and what changed between two."""

from __future__ import annotations

NOT_SAID = ("endpoint", "prompt")  # hashes: that they differ is all they tell


def fingerprint(signature: str | None) -> dict[str, str]:
    """
    >>> fingerprint("model:gpt-4|prompt:1a2b|n:1")
    {'model': 'gpt-4', 'prompt': '1a2b', 'n': '1'}
    """
    parts = (part.partition(":") for part in str(signature or "").split("|"))
    return {k: v for k, colon, v in parts if colon and k != "version"}


def made_otherwise(old: str | None, new: str | None) -> list[str]:
    """What differs between two signatures, in words; nothing where one of them is not known.

    >>> made_otherwise("model:a|prompt:1", "model:b|prompt:2")
    ['model a → b', 'another prompt']
    """
    first, second = fingerprint(old), fingerprint(new)
    if not first or not second:
        return []
    return [
        f"another {k}" if k in NOT_SAID else f"{k} {first.get(k, 'none')} → {second.get(k, 'none')}"
        for k in {**first, **second}
        if first.get(k) != second.get(k)
    ]
