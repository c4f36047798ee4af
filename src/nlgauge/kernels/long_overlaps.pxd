# The types of the room of long_overlaps.py.
cimport cython

@cython.final
cdef class OverlapRoom:
    cdef int[::1] table, out, flat, counts, seen, best, used
    cdef unsigned long long[::1] keys
