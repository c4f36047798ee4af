"""How mteval-v13a takes a piece of text apart.

The rules of mteval-v13a are four substitutions that only put blanks between characters. The first one sets symbols
apart; the others, about . , and -, see no farther than the next blank: they are run one after the other, exactly as the
regular expressions read, on those pieces that hold one of the three.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

Int = cython.typedef(cython.Py_ssize_t)
Text = cython.typedef(cython.const[cython.uint][::1])
Room = cython.typedef(cython.uint[::1])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_digit(c: cython.uint) -> cython.bint:
    return 48 <= c <= 57


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def mteval(text: Text, first: Int, last: Int, a: Room, b: Room) -> Int:
    """Apply the substitutions of mteval-v13a for . , and - to one piece between blanks; the result is in `b`."""
    cython.declare(k=Int)
    a[0] = 32
    for k in range(first, last):
        a[k - first + 1] = text[k]
    n: Int = last - first + 2
    a[n - 1] = 32
    m: Int = 0
    i: Int = 0
    while i < n:  # . and , after a non-digit
        b[m] = a[i]
        m += 1
        if i + 1 < n and (a[i + 1] == 46 or a[i + 1] == 44) and not _is_digit(a[i]):
            b[m] = 32
            b[m + 1] = a[i + 1]
            b[m + 2] = 32
            m += 3
            i += 1
        i += 1
    n = 0
    i = 0
    while i < m:  # . and , before a non-digit
        if i + 1 < m and (b[i] == 46 or b[i] == 44) and not _is_digit(b[i + 1]):
            a[n] = 32
            a[n + 1] = b[i]
            a[n + 2] = 32
            a[n + 3] = b[i + 1]
            n += 4
            i += 2
        else:
            a[n] = b[i]
            n += 1
            i += 1
    m = 0
    i = 0
    while i < n:  # - after a digit
        b[m] = a[i]
        m += 1
        if i + 1 < n and a[i + 1] == 45 and _is_digit(a[i]):
            b[m] = 32
            b[m + 1] = 45
            b[m + 2] = 32
            m += 3
            i += 1
        i += 1
    return m


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def marks(text: Text, first: Int, last: Int) -> Int:
    """Count the characters of a token that mteval has to check."""
    cython.declare(k=Int)
    many: Int = 0
    for k in range(first, last):
        many += text[k] == 46 or text[k] == 44 or text[k] == 45
    return many
