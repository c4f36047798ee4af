cdef Py_ssize_t mteval(
    const unsigned int[::1] text, Py_ssize_t first, Py_ssize_t last, unsigned int[::1] a, unsigned int[::1] b
) noexcept nogil

cdef Py_ssize_t marks(const unsigned int[::1] text, Py_ssize_t first, Py_ssize_t last) noexcept nogil
