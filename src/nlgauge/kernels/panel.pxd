# The types of the room of panel.py.
cimport cython

@cython.final
cdef class PanelRoom:
    cdef double[:, ::1] v, centered, plain
    cdef int[::1] position, tree
    cdef int[:, ::1] rank, level, order, start
    cdef unsigned long long[:, ::1] keys
