"""Character classes of each tokenizer, as tables for the token kernel. Never compiled."""

from __future__ import annotations

import numpy as np

SPLIT, ROUGE, MTEVAL, CHRF_WORDS = range(4)
# Role of a character: inside a token, inside a token that mteval has to check again, between tokens, a token by itself,
# or beyond ASCII, which requires a separate check. A token ends before a character with any role other than the first
# two.
INSIDE, MARK, BETWEEN, ALONE, FOREIGN = range(5)
SPACES = [*range(9, 14), *range(28, 33)]  # as str.split sees them
SYMBOLS = [*range(33, 48), *range(58, 65), *range(91, 97), *range(123, 127)]


def _roles():
    role = np.full((4, 129), INSIDE, np.uint8)
    role[:, 128] = FOREIGN
    role[:, SPACES] = BETWEEN
    role[ROUGE] = BETWEEN
    role[ROUGE, [*range(48, 58), *range(97, 123)]] = INSIDE
    role[MTEVAL, SYMBOLS] = ALONE
    role[MTEVAL, [ord(c) for c in ",-."]] = MARK
    role[MTEVAL, ord("'")] = INSIDE
    return [memoryview(row) for row in role]


ROLE = _roles()
