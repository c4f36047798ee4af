cdef enum:
    MAX_SHIFT = 10
    MAX_DISTANCE = 50
    BEAM = 25
    MAX_TRIALS = 1000
    TRIALS_OF_PLACE = 65
    FAR = 536870912
    MATCH = 0
    CHANGE = 1
    HYP_ONLY = 2
    REF_ONLY = 3
    MASK = 0
    TRIED = 1
    PLUS = 2
    MINUS = 3
    RISE = 4
    FALL = 5
    SCORE = 6
    ALIGN = 0
    REF_ERRORS = 1
    HYP_ERRORS = 2
    GAIN = 0
    LENGTH = 1
    FROM = 2
    TO = 3
    TRIALS = 4

cdef (Py_ssize_t, Py_ssize_t) width_of(Py_ssize_t nh, Py_ssize_t nr) noexcept nogil

cdef Py_ssize_t rows_of(
    int[:, ::1] words, Py_ssize_t which, Py_ssize_t nh, const int[::1] ids, Py_ssize_t r, Py_ssize_t nr, Py_ssize_t at,
    long long[::1] lows, int[:, ::1] table, unsigned char[:, ::1] way, Py_ssize_t limit,
) noexcept nogil

cdef void alignment(
    unsigned char[:, ::1] way, long long[::1] lows, unsigned long long[:, ::1] bits, bint exact, Py_ssize_t nh, Py_ssize_t nr,
    long long[:, ::1] desk,
) noexcept nogil
