"""Correlations of the groups of one grouping under many draws, without sorting in any draw.

An *entry* is one score of one cell. The entries of a group are sorted once; a draw only says how often each of them
counts. For a bootstrap sample, a half of the inputs or a leave-one-out sample that is a whole-number weight: a cell
drawn twice is two equal points, which tie on both sides. For a permutation test the scores of two metrics are merged
into one order, and each draw gives every cell one of its two scores for metric 1 and the other for metric 2: weights of
0 and 1. So the walk up the order is the same for every draw, and a strip of draws is walked at once, one SIMD lane per
draw: a Fenwick tree over human levels with one row of lanes per node counts concordant pairs, a running count gives
ranks. Cells that are tied by both metric and human rating (a *knot*) are handled as one. Counts are whole numbers.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import empty, kernel

if cython.compiled:
    from cython.cimports.libc.math import floor, log2, sqrt
    from cython.cimports.nlgauge.kernels.shared import CANCELLED, STRIP
else:
    from math import floor, log2, sqrt

    from nlgauge.kernels.shared import CANCELLED, STRIP

    # Rows of integers: a query of the tree, entries so far, entries of the run, one entry, the tree.
    LOOK, SEEN, RUN, OWN, TREE = range(5)
    # Rows of the block: results of the human levels, results of a pass, five sums for Pearson, and workspace.
    N, TIED_H, CUBES_H, CONCORDANT, TIED, BOTH, PRODUCT, CUBES, RUN_RANKS, SUMS = range(10)
    PAIRS, KNOWN, WEIGHT, ONE, TWO, LOST, RANK = range(14, 21)


Int = cython.typedef(cython.Py_ssize_t)


def lift(size):
    """Return a power of two that scales numbers of this size to about 1 if their squares would overflow or underflow,
    else 1.

    A correlation does not change if a whole vector is multiplied, and multiplication by a power of two is exact.
    """
    if size == 0.0 or 1e-100 < size < 1e100:
        return 1.0
    two: cython.double = 2.0
    power: cython.double = -floor(log2(size))
    return two ** (power if power < 1000.0 else 1000.0)


def largest_of(times):
    """Return the largest weight of a row or column in any draw."""
    cython.declare(s=Int, k=Int, t=Int)
    most: cython.short = 0
    for s in range(times.shape[0]):
        for k in range(times.shape[1]):
            for t in range(STRIP):
                most = max(most, times[s, k, t])
    return most


class Walk:
    """The groups of one grouping, the draws, and room to work in; see `correlate_groups` and resample.pxd."""

    def clear_ints(self, row):
        """Set a row of the whole numbers to 0."""
        for t in range(STRIP):
            self.ints[row, t] = 0

    def clear(self, row):
        """Set a row of the block to 0."""
        for t in range(STRIP):
            self.b[row, t] = 0.0

    def add_times(self, s, e, m, k):
        """Add to row k of the integers the number of times that each draw of strip s includes entry e for metric m."""
        cython.declare(t=Int)
        row: Int = self.row[self.cell[e]]
        col: Int = self.col[self.cell[e]]
        if self.swap:  # a metric shows its own score where nothing is swapped
            flip: cython.int = self.source[e] == m
            for t in range(STRIP):
                self.ints[k, t] += self.rows[s, row, t] ^ self.cols[s, col, t] ^ flip
        else:
            for t in range(STRIP):
                self.ints[k, t] += self.rows[s, row, t] * self.cols[s, col, t]

    def human(self, s, g):
        """Count points and ties and compute ranks (twice the average, centered) of the human levels, which two metrics
        share.
        """
        cython.declare(e=Int, t=Int, level=Int)
        levels: Int = self.levels[g]
        for level in range(levels):
            self.clear_ints(TREE + level)
        for e in range(self.start[g], self.start[g + 1]):
            if not self.swap:
                self.add_times(s, e, 0, TREE + self.code[self.cell[e]])
            elif self.source[e] == 0:  # each draw shows one of the two scores of a cell
                self.ints[TREE + self.code[self.cell[e]], 0] += 1
        if self.swap:
            for level in range(TREE, TREE + levels):
                for t in range(1, STRIP):
                    self.ints[level, t] = self.ints[level, 0]
        for level in range(N, CUBES_H + 1):
            self.clear(level)
        self.clear_ints(SEEN)
        for level in range(TREE, TREE + levels):
            for t in range(STRIP):
                c: cython.double = self.ints[level, t]
                self.b[N, t] += c
                self.b[TIED_H, t] += c * (c - 1.0) / 2.0
                self.b[CUBES_H, t] += c * c * c - c
        for level in range(levels):
            for t in range(STRIP):
                seen: cython.double = self.ints[SEEN, t]
                c = self.ints[TREE + level, t]
                self.b[RANK + level, t] = 2.0 * seen + c - self.b[N, t]
                self.ints[SEEN, t] += self.ints[TREE + level, t]

    def climb(self, s, g, m):
        """Walk up the scores of a group and fill the rows CONCORDANT to CUBES."""
        cython.declare(k=Int, t=Int, level=Int)
        e: Int = self.start[g]
        levels: Int = self.levels[g]
        pairs: cython.bint = len(self.places) > 0
        for k in range(CONCORDANT, CUBES + 1):
            self.clear(k)
        self.clear_ints(SEEN)
        if pairs:
            for level in range(TREE, TREE + levels + 1):
                self.clear_ints(level)
        while e < self.start[g + 1]:
            end: Int = self.end[e]
            knots: Int = 0
            if self.once and end == e + 1:
                self.single(s, e, m)
                knots, e = 1, end
            else:
                self.clear_ints(RUN)
                self.clear(RUN_RANKS)
                while e < end:
                    e = self.knot(s, e, end, m, knots)
                    knots += 1
                for t in range(STRIP):
                    c: cython.double = self.ints[RUN, t]
                    seen: cython.double = self.ints[SEEN, t]
                    self.b[TIED, t] += c * (c - 1.0) / 2.0
                    self.b[PRODUCT, t] += self.b[RUN_RANKS, t] * (2.0 * seen + c - self.b[N, t])
                    self.b[CUBES, t] += c * c * c - c
                    self.ints[SEEN, t] += self.ints[RUN, t]
            if pairs:  # entered only after the whole run was looked up: tied scores are not concordant
                for k in range(knots):
                    level = self.knot_level[k] + 1
                    while level <= levels:
                        for t in range(STRIP):
                            self.ints[TREE + level, t] += self.ints[self.knots + k, t]
                        level += level & -level

    def single(self, s, e, m):
        """Take a run of one entry that counts once or not at all: it has no ties, not even with itself."""
        cython.declare(t=Int)
        level: Int = self.code[self.cell[e]]
        self.knot_level[0] = level
        self.clear_ints(self.knots)
        self.add_times(s, e, m, self.knots)
        if self.spearman >= 0:
            for t in range(STRIP):
                c: cython.double = self.ints[self.knots, t]
                seen: cython.double = self.ints[SEEN, t]
                self.b[PRODUCT, t] += c * self.b[RANK + level, t] * (2.0 * seen + c - self.b[N, t])
                self.ints[SEEN, t] += self.ints[self.knots, t]
        self.concordant(level, self.knots)

    def knot(self, s, e, stop, m, k):
        """Take the entries from e on that have one human level, all of one run; returns the entry behind them."""
        cython.declare(t=Int)
        level: Int = self.code[self.cell[e]]
        row: Int = self.knots + k
        self.knot_level[k] = level
        self.clear_ints(row)
        while e < stop and self.code[self.cell[e]] == level:
            self.add_times(s, e, m, row)
            e += 1
        for t in range(STRIP):
            c: cython.double = self.ints[row, t]
            self.b[BOTH, t] += c * (c - 1.0) / 2.0
            self.ints[RUN, t] += self.ints[row, t]
        if self.spearman >= 0:
            for t in range(STRIP):
                self.b[RUN_RANKS, t] += self.ints[row, t] * self.b[RANK + level, t]
        self.concordant(level, row)
        return e

    def concordant(self, level, row):
        """Count the pairs of a knot with entries that have a lower score and a lower human level."""
        cython.declare(t=Int)
        if level == 0 or len(self.places) == 0:
            return
        for t in range(STRIP):
            self.ints[LOOK, t] = self.ints[TREE + level, t]
        level &= level - 1
        while level > 0:
            for t in range(STRIP):
                self.ints[LOOK, t] += self.ints[TREE + level, t]
            level &= level - 1
        for t in range(STRIP):
            below: cython.double = self.ints[LOOK, t]
            self.b[CONCORDANT, t] += below * self.ints[row, t]

    def score(self, e, m):
        """Return a score as seen by metric m, on the scale of metric m and centered.

        Two metrics are brought to one scale by (x − mean) · unit. Each is centered by its own mean in the group, so
        that the data without exchanges lose no digits; the difference of the two means is added to the scores of the
        other metric.
        """
        k: Int = self.source[e]
        return (self.x[k, self.cell[e]] - self.center[k]) * self.scales[2 * k + 1] + (k - m) * self.center[2]

    def center_scores(self, g):
        """Fill the first rows of `u` with the scores as each metric shows them and the last with the human ratings."""
        cython.declare(e=Int, k=Int)
        first: Int = self.start[g]
        n: Int = self.start[g + 1] - first
        metrics: Int = self.x.shape[0]
        mean: cython.double = 0.0
        for k in range(3):
            self.center[k] = 0.0
        for e in range(first, first + n):
            self.center[self.source[e]] += self.x[self.source[e], self.cell[e]] / (n // metrics)
            mean += self.z[self.cell[e]] / n
        if metrics > 1:
            for k in range(2):
                away: cython.double = (self.center[k] - self.scales[2 * k]) * self.scales[2 * k + 1]
                self.center[2] = away - self.center[2]
        for k in range(metrics + 1):
            size: cython.double = 0.0
            for e in range(n):
                self.u[k, e] = self.score(first + e, k) if k < metrics else self.z[self.cell[first + e]] - mean
                size = max(size, abs(self.u[k, e]))
            up: cython.double = lift(size)
            for e in range(n):
                self.u[k, e] *= up

    def moments(self, s, g, m):
        """Fill the rows SUMS, ONE and TWO: cross product and both sums of squares of metric m, around the means of a
        draw.
        """
        cython.declare(e=Int, t=Int)
        first: Int = self.start[g]
        for e in range(SUMS, SUMS + (5 if m == 0 else 3)):
            self.clear(e)
        for e in range(first, self.start[g + 1]):
            u, v = self.u[m, e - first], self.u[self.x.shape[0], e - first]
            uv, uu, vv = u * v, u * u, v * v
            self.clear_ints(OWN)
            self.add_times(s, e, m, OWN)
            for t in range(STRIP):
                own: cython.double = self.ints[OWN, t]
                self.b[SUMS, t] += own * uv
                self.b[SUMS + 1, t] += own * uu
                self.b[SUMS + 2, t] += own * u
            if m == 0:  # two metrics share the human side
                for t in range(STRIP):
                    own = self.ints[OWN, t]
                    self.b[SUMS + 3, t] += own * vv
                    self.b[SUMS + 4, t] += own * v
        for t in range(STRIP):
            # a draw without points has sums of 0 and no weight; only that it must not divide by 0
            n = self.b[N, t] if self.b[N, t] > 0.5 else 1.0
            u = self.b[SUMS + 2, t]
            v = self.b[SUMS + 4, t]
            uu = self.b[SUMS + 1, t] - u * u / n
            vv = self.b[SUMS + 3, t] - v * v / n
            lost: cython.double = 1.0 if uu <= CANCELLED * self.b[SUMS + 1, t] + 1e-250 else 0.0  # or vanish
            lost += 1.0 if vv <= CANCELLED * self.b[SUMS + 3, t] + 1e-250 else 0.0
            self.b[LOST, t] = lost * self.b[KNOWN, t]
            self.b[SUMS, t] -= u * v / n
            self.b[ONE, t] = uu
            self.b[TWO, t] = vv
        for t in range(STRIP):
            if self.b[LOST, t] > 0.0:
                self.moments_again(s, g, m, t)

    def moments_again(self, s, g, m, t):
        """Recompute the moments of one draw whose digits cancel (the one large score was not drawn), around its own
        means.

        A draw that shows only the scores of one metric uses them unchanged, because centering has lost their digits.
        """
        cython.declare(e=Int, k=Int, turn=Int, size=cython.double, size_z=cython.double)
        shown: Int = 0  # 1 for metric 1, 2 for metric 2, 3 for both
        mean, mean_z, size, size_z, rest, rest_z = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        self.b[SUMS, t] = self.b[ONE, t] = self.b[TWO, t] = 0.0
        for turn in range(4):
            up, up_z = lift(size), lift(size_z)
            for e in range(self.start[g], self.start[g + 1]):
                k = self.source[e]
                cell: Int = self.cell[e]
                row: cython.int = self.rows[s, self.row[cell], t]
                col: cython.int = self.cols[s, self.col[cell], t]
                own: cython.double = row ^ col ^ (k == m) if self.swap else row * col
                if own == 0.0:
                    continue
                u: cython.double = self.score(e, m) if shown == 3 else self.x[k, cell]
                v: cython.double = self.z[cell]
                if turn == 0:
                    shown |= k + 1
                elif turn == 1:
                    mean += own * u / self.b[N, t]
                    mean_z += own * v / self.b[N, t]
                elif turn == 2:
                    size = max(size, abs(u - mean))
                    size_z = max(size_z, abs(v - mean_z))
                else:
                    u = (u - mean) * up
                    v = (v - mean_z) * up_z
                    self.b[SUMS, t] += own * u * v
                    self.b[ONE, t] += own * u * u
                    self.b[TWO, t] += own * v * v
                    rest += own * u  # a mean is rounded, too
                    rest_z += own * v
        self.b[SUMS, t] -= rest * rest_z / self.b[N, t]
        self.b[ONE, t] -= rest * rest / self.b[N, t]
        self.b[TWO, t] -= rest_z * rest_z / self.b[N, t]

    def add_cosine(self, above, to):
        """Add weight · above / sqrt(ONE · TWO) to row `to` of the sums where the group has a coefficient."""
        cython.declare(t=Int)
        for t in range(STRIP):
            p, q = self.b[ONE, t], self.b[TWO, t]
            # No branches, so that lanes stay together: a coefficient that is not defined has weight 0 and roots of 1.
            fine = self.b[KNOWN, t] * (1.0 if p > 0.0 else 0.0) * (1.0 if q > 0.0 else 0.0)
            value = self.b[above, t]
            value = value if fine > 0.5 else 0.0  # it may be no number
            value = value / (sqrt(p if fine > 0.5 else 1.0) * sqrt(q if fine > 0.5 else 1.0))
            value = 1.0 if value > 1.0 else value
            value = -1.0 if value < -1.0 else value
            fine = fine * self.b[WEIGHT, t]
            self.total[to, t] += fine * value
            self.count[to, t] += fine

    def add_pair_form(self, k, to):
        """Add a ratio of two sums over (C, D, T_h, T_m, T_hm), with the coefficients in `forms`."""
        cython.declare(t=Int)
        f = self.forms
        a0, a1, a2, a3, a4 = f[k, 0, 0], f[k, 0, 1], f[k, 0, 2], f[k, 0, 3], f[k, 0, 4]
        p0, p1, p2, p3, p4 = f[k, 1, 0], f[k, 1, 1], f[k, 1, 2], f[k, 1, 3], f[k, 1, 4]
        q0, q1, q2, q3, q4 = f[k, 2, 0], f[k, 2, 1], f[k, 2, 2], f[k, 2, 3], f[k, 2, 4]
        for t in range(STRIP):
            c, thm = self.b[CONCORDANT, t], self.b[BOTH, t]
            th, tm = self.b[TIED_H, t] - thm, self.b[TIED, t] - thm
            d = self.b[PAIRS, t] - th - tm - thm - c
            above = a0 * c + a1 * d + a2 * th + a3 * tm + a4 * thm
            one = p0 * c + p1 * d + p2 * th + p3 * tm + p4 * thm
            two = q0 * c + q1 * d + q2 * th + q3 * tm + q4 * thm
            fine = (1.0 if one > 0.5 else 0.0) * (1.0 if two > 0.5 else 0.0)  # counts are whole numbers
            value = above / (sqrt(one if fine > 0.5 else 1.0) * sqrt(two if fine > 0.5 else 1.0))
            times = fine * self.b[WEIGHT, t]
            self.total[to, t] += times * value
            self.count[to, t] += times

    def add_group(self, s, g, m):
        """Add the coefficients of metric m in group g to the sums of strip s."""
        cython.declare(k=Int, t=Int)
        last: Int = min(g, self.times.shape[1] - 1)
        to: Int = m * (self.total.shape[0] // self.x.shape[0]) + s  # coefficient i is `strips` · i below
        if m == 0:
            self.human(s, g)
        self.climb(s, g, m)
        for t in range(STRIP):
            n = self.b[N, t]
            self.b[WEIGHT, t] = self.times[s, last, t] if n >= self.least else 0
            self.b[PAIRS, t] = n * (n - 1.0) / 2.0
            edge = self.b[PAIRS, t] - 0.25
            self.b[KNOWN, t] = (1.0 if self.b[TIED, t] < edge else 0.0) * (1.0 if self.b[TIED_H, t] < edge else 0.0)
        if self.pearson >= 0:
            self.moments(s, g, m)
            self.add_cosine(SUMS, to + self.pearson * self.strips)
        if self.spearman >= 0:
            for t in range(STRIP):
                n = self.b[N, t]
                self.b[ONE, t] = (n * n * n - n - self.b[CUBES, t]) / 3.0
                self.b[TWO, t] = (n * n * n - n - self.b[CUBES_H, t]) / 3.0
            self.add_cosine(PRODUCT, to + self.spearman * self.strips)
        for k in range(len(self.places)):
            self.add_pair_form(k, to + self.places[k] * self.strips)


@kernel
def correlate_groups(groups, draws, scores, slots, sums):
    """Add up the coefficients of all groups: the sums are metrics × coefficients × strips rows of STRIP.

    The arguments are the tuples of that name in stats/correlation/resampled_groups.py. Groups that are constant in a
    draw, or have fewer than `least` points in it, are left out of that draw.
    """
    cython.declare(s=Int, g=Int, m=Int)
    w: Walk = Walk()
    w.start, w.cell, w.source, w.end, w.levels, w.code, w.least = groups
    w.row, w.col, w.rows, w.cols, w.times, w.swap = draws
    w.x, w.z, w.scales = scores
    w.once = w.swap or (largest_of(w.rows) <= 1 and largest_of(w.cols) <= 1)
    w.pearson, w.spearman, w.forms, w.places = slots
    w.total, w.count = sums
    w.strips = w.rows.shape[0]
    many: Int = len(w.levels)
    deepest: Int = 1
    longest: Int = 1
    for g in range(many):
        deepest = max(deepest, w.levels[g])
        longest = max(longest, w.start[g + 1] - w.start[g])
    w.knots = TREE + deepest + 1
    w.ints = empty((w.knots + deepest + 1, STRIP), "i")
    w.b = empty((RANK + deepest, STRIP), "d")
    w.knot_level = empty(deepest + 1, "i")
    w.center = empty(3, "d")
    w.u = empty((3, longest), "d")
    with cython.nogil:
        for g in range(many):
            if w.start[g] == w.start[g + 1]:
                continue
            if w.pearson >= 0:
                w.center_scores(g)
            for s in range(w.strips):
                for m in range(w.x.shape[0]):
                    w.add_group(s, g, m)
