# What `shared.py` says in Python, for the C compiler: constants it can see through, and one machine instruction.
cdef extern from *:
    """
    #if defined(_MSC_VER)
      #include <intrin.h>
      #define nlgauge_popcount(x) ((Py_ssize_t) __popcnt64(x))
    #else
      #define nlgauge_popcount(x) ((Py_ssize_t) __builtin_popcountll(x))
    #endif
    #define nlgauge_bit(i) (1ULL << (i))
    """
    unsigned long long bit "nlgauge_bit" (Py_ssize_t i) noexcept nogil
    Py_ssize_t popcount "nlgauge_popcount" (unsigned long long x) noexcept nogil
    const unsigned long long ALL "0xFFFFFFFFFFFFFFFFULL"
    const double CANCELLED "1e-3"
    const double NEAR "1e-12"
    const unsigned long long PRIME "0x9E3779B97F4A7C15ULL"

cdef enum:
    STRIP = 128
    LANES = 16
