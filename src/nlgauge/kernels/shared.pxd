# What `shared.py` says in Python, for the C compiler: constants it can see through, and one machine instruction.
cdef extern from *:
    """
    #if defined(_MSC_VER)
      #include <intrin.h>
      #define nlgauge_popcount(x) ((Py_ssize_t) __popcnt64(x))
      static __inline Py_ssize_t nlgauge_zeros(unsigned long long x) {
        unsigned long place;
        _BitScanReverse64(&place, x);
        return 63 - (Py_ssize_t) place;
      }
    #else
      #define nlgauge_zeros(x) ((Py_ssize_t) __builtin_clzll(x))
      #define nlgauge_popcount(x) ((Py_ssize_t) __builtin_popcountll(x))
    #endif
    #define nlgauge_bit(i) (1ULL << (i))
    /* Eight bytes as one number, the first on top; compilers make one load of it. */
    #define nlgauge_eight(p) \
      ((unsigned long long) (p)[0] << 56 | (unsigned long long) (p)[1] << 48 | (unsigned long long) (p)[2] << 40 | \
       (unsigned long long) (p)[3] << 32 | (unsigned long long) (p)[4] << 24 | (unsigned long long) (p)[5] << 16 | \
       (unsigned long long) (p)[6] << 8 | (unsigned long long) (p)[7])
    """
    unsigned long long bit "nlgauge_bit" (Py_ssize_t i) noexcept nogil
    Py_ssize_t popcount "nlgauge_popcount" (unsigned long long x) noexcept nogil
    Py_ssize_t leading_zeros "nlgauge_zeros" (unsigned long long x) noexcept nogil
    unsigned long long eight "nlgauge_eight" (const unsigned char* p) noexcept nogil
    const unsigned long long ALL "0xFFFFFFFFFFFFFFFFULL"
    const double CANCELLED "1e-3"
    const double NEAR "1e-12"
    const unsigned long long PRIME "0x9E3779B97F4A7C15ULL"

cdef enum:
    STRIP = 128
    LANES = 16
