cdef void sums(
    const int[::1] cells, Py_ssize_t first, Py_ssize_t stop, const double[::1] x1, const double[::1] x2, const double[::1] z,
    const double[::1] scales, const unsigned char[::1] valid, const signed char[:, :, ::1] rows, const signed char[:, :, ::1] cols,
    const int[::1] row, const int[::1] col, Py_ssize_t s,
    int[:, ::1] ints, double[:, ::1] b, Py_ssize_t at, double[::1] fixed,
) noexcept nogil

cdef bint moments(int[:, ::1] ints, double[:, ::1] b, Py_ssize_t at, double[::1] fixed) noexcept nogil

cdef void moments_again(
    const int[::1] cells, Py_ssize_t first, Py_ssize_t stop, const double[::1] x1, const double[::1] x2, const double[::1] z,
    const double[::1] scales, const unsigned char[::1] valid, const signed char[:, :, ::1] rows, const signed char[:, :, ::1] cols,
    const int[::1] row, const int[::1] col, Py_ssize_t s,
    double[:, ::1] b, Py_ssize_t at, double[::1] fixed,
) noexcept nogil
