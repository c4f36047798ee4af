cdef bint nearly_tied(double[:, ::1] x, double[:, ::1] near) noexcept nogil

cdef bint uneven(const double[::1] x, const unsigned char[::1] valid, Py_ssize_t systems) noexcept nogil

cdef void rounding(
    const double[::1] x, const unsigned char[::1] valid, double[:, ::1] drawn, double[:, ::1] near
) noexcept nogil

cdef void snap(
    double[:, ::1] x, double[:, ::1] near, double[:, ::1] weight, long long[::1] order, double[::1] down
) noexcept nogil
