cpdef void radix_sort(
    double[:, ::1] v, Py_ssize_t row, Py_ssize_t n, int[:, ::1] order,
    unsigned long long[:, ::1] keys, double[:, ::1] plain, int[:, ::1] start,
) noexcept nogil

cpdef Py_ssize_t merge_sort(int[:, ::1] order, Py_ssize_t at, Py_ssize_t n) noexcept nogil

cpdef (Py_ssize_t, Py_ssize_t) rank_levels(
    double[:, ::1] v, Py_ssize_t row, Py_ssize_t n, int[:, ::1] rank, int[:, ::1] level, int[:, ::1] order,
    unsigned long long[:, ::1] keys, double[:, ::1] plain, int[:, ::1] start,
) noexcept nogil

cpdef (Py_ssize_t, Py_ssize_t, double, double, double) walk(
    unsigned long long[:, ::1] keys, Py_ssize_t n, int[:, ::1] order, int[:, ::1] rank, Py_ssize_t h
) noexcept nogil

cpdef (Py_ssize_t, Py_ssize_t) count_by_tree(
    unsigned long long[:, ::1] keys, Py_ssize_t n, int[:, ::1] order, Py_ssize_t classes, int[::1] tree
) noexcept nogil

cpdef (Py_ssize_t, Py_ssize_t) count_by_merging(
    unsigned long long[:, ::1] keys, Py_ssize_t n, int[:, ::1] order
) noexcept nogil
