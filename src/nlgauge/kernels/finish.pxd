cdef double lift(double size) noexcept nogil

cdef void pair_family(
    const double[:, :, ::1] forms, Py_ssize_t k,
    double[:, ::1] b, Py_ssize_t pairs, Py_ssize_t tied_h, Py_ssize_t tied_m,
    Py_ssize_t both, Py_ssize_t concordant, Py_ssize_t weight,
    double[:, ::1] total, double[:, ::1] count, Py_ssize_t to,
) noexcept nogil

cdef void cosine(
    double[:, ::1] b, Py_ssize_t above, Py_ssize_t one, Py_ssize_t two,
    Py_ssize_t known, Py_ssize_t weight,
    double[:, ::1] total, double[:, ::1] count, Py_ssize_t to,
) noexcept nogil
