# The types of resample.py. Its functions need no decorators of their own: they are C functions because they stand here.
cimport cython

cdef enum:
    LOOK = 0
    SEEN = 1
    RUN = 2
    OWN = 3
    TREE = 4
    N = 0
    TIED_H = 1
    CUBES_H = 2
    CONCORDANT = 3
    TIED = 4
    BOTH = 5
    PRODUCT = 6
    CUBES = 7
    RUN_RANKS = 8
    SUMS = 9
    PAIRS = 14
    KNOWN = 15
    WEIGHT = 16
    ONE = 17
    TWO = 18
    LOST = 19
    RANK = 20

cdef double lift(double size) noexcept nogil
cdef short largest_of(const short[:, :, ::1] times) noexcept nogil

@cython.final
cdef class Walk:
    cdef const int[::1] start, cell, source, end, levels, code, row, col
    cdef const short[:, :, ::1] rows, cols, times
    cdef const double[:, ::1] x
    cdef const double[::1] z, scales
    cdef const double[:, :, ::1] forms
    cdef const long long[::1] places
    cdef Py_ssize_t least, pearson, spearman, strips, knots
    cdef bint swap, once
    cdef double[:, ::1] total, count, b, u
    cdef double[::1] center
    cdef int[:, ::1] ints
    cdef int[::1] knot_level

    cdef void clear_ints(self, Py_ssize_t row) noexcept nogil
    cdef void clear(self, Py_ssize_t row) noexcept nogil
    cdef void add_times(self, Py_ssize_t s, Py_ssize_t e, Py_ssize_t m, Py_ssize_t k) noexcept nogil
    cdef void human(self, Py_ssize_t s, Py_ssize_t g) noexcept nogil
    cdef void climb(self, Py_ssize_t s, Py_ssize_t g, Py_ssize_t m) noexcept nogil
    cdef void single(self, Py_ssize_t s, Py_ssize_t e, Py_ssize_t m) noexcept nogil
    cdef Py_ssize_t knot(self, Py_ssize_t s, Py_ssize_t e, Py_ssize_t stop, Py_ssize_t m, Py_ssize_t k) noexcept nogil
    cdef void concordant(self, Py_ssize_t level, Py_ssize_t k) noexcept nogil
    cdef double score(self, Py_ssize_t e, Py_ssize_t m) noexcept nogil
    cdef void center_scores(self, Py_ssize_t g) noexcept nogil
    cdef void moments(self, Py_ssize_t s, Py_ssize_t g, Py_ssize_t m) noexcept nogil
    cdef void moments_again(self, Py_ssize_t s, Py_ssize_t g, Py_ssize_t m, Py_ssize_t t) noexcept nogil
    cdef void add_cosine(self, Py_ssize_t above, Py_ssize_t to) noexcept nogil
    cdef void add_pair_form(self, Py_ssize_t k, Py_ssize_t to) noexcept nogil
    cdef void add_group(self, Py_ssize_t s, Py_ssize_t g, Py_ssize_t m) noexcept nogil
