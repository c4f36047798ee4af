"""Fuzzing: whatever comes in, a value or one clear line goes out.

    python -m fuzz --runs 1000000            every target, random damage to real samples; crashes are kept in a folder
    python -m fuzz --target reply --runs 5000 --engine atheris

`contract.py` says what is promised, the targets are in `readers.py`, `words.py` and `numbers.py`, `mutate.py` makes the
damage, `runner.py` runs one target in a process of its own. CI runs the same targets briefly (tests/fuzz).
"""
