"""Inter-annotator agreement, compared with krippendorff, evalica and pingouin, in one run: `python -m bench agreement`.

Ratings from 1 to 5 by three raters, a tenth of them missing for alpha (krippendorff takes gaps; pingouin's ICC does
not, so there all are given). Processor time, the best of several rounds on both sides; values must agree or the run
fails. The interval of alpha has 1,000 resamples of units: krippendorff has none, so its time is that of one value ×
1,001. evalica (left out where it is not installed: `pip install "nlgauge[bench]"`) resamples pairs of ratings, as the
KALPHA macro does: it is shown next to both of ours. On 101 levels nearly every unit has distinct ratings. A ratio below
1: the library is ahead.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np

from nlgauge.stats.agreement.alpha import alpha
from nlgauge.stats.agreement.icc import icc

ROUNDS = 5


def ratings(units: int, missing: float, seed: int = 0, levels: int = 5) -> np.ndarray:
    """Three raters × units: a quality that they see with noise, on so many levels from 1 up."""
    rng = np.random.default_rng(seed)
    table = rng.normal(3, 1, units) + rng.normal(0, 0.8, (3, units))
    table = np.clip(np.rint((table - 1) / 4 * (levels - 1)), 0, levels - 1) + 1
    table[rng.random(table.shape) < missing] = np.nan
    return table


def timed(work: Callable[[], float]) -> tuple[float, float]:
    """Seconds of the processor, and the value."""
    times = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        value = work()
        times.append(time.process_time() - begun)
    return min(times), value


def line(what: str, units: int, ours: tuple[float, float], theirs: tuple[float, float], times: int = 1) -> None:
    if abs(ours[1] - theirs[1]) > 1e-9:
        raise SystemExit(f"{what}: {ours[1]} here, {theirs[1]} there")
    ratio = theirs[0] * times / ours[0]
    print(f"{what:<62}{units:>8}{ours[0] * 1e3:>10.2f}{theirs[0] * times * 1e3:>12.2f}{ratio:>8.1f}", flush=True)


def beside_evalica(units: int) -> None:
    try:
        import evalica
    except ImportError:
        print("evalica is not installed: left out")
        return
    import pandas as pd

    for levels in (5, 101):
        table = ratings(units, 0.1, levels=levels)
        frame = pd.DataFrame(table)
        for level in ("nominal", "ordinal", "interval", "ratio"):
            what = f"evalica: {level}, {levels} levels"
            line(
                what,
                units,
                timed(lambda t=table, level=level: alpha(t, level).value),
                timed(lambda f=frame, level=level: evalica.alpha(f, level).alpha),
            )
            theirs = timed(
                lambda f=frame, level=level: evalica.alpha_bootstrap(f, level, n_resamples=1000, random_state=0).alpha
            )
            for of in ("units", "pairs"):
                line(
                    f"{what}, 1,000 resamples, ours of {of}",
                    units,
                    timed(
                        lambda t=table, level=level, of=of: (
                            alpha(t, level, rng=np.random.default_rng(0), bootstrap=of).value
                        )
                    ),
                    theirs,
                )


def main() -> None:
    import krippendorff
    import pandas as pd
    import pingouin

    warnings.simplefilter("ignore")
    print(f"{'':<62}{'units':>8}{'ours, ms':>10}{'library, ms':>12}{'ratio':>8}")
    for units in (1_600, 20_000):
        table = ratings(units, 0.1)
        for level in ("nominal", "ordinal", "interval", "ratio"):
            line(
                f"Krippendorff's alpha, {level}",
                units,
                timed(lambda level=level, t=table: alpha(t, level).value),
                timed(lambda level=level, t=table: krippendorff.alpha(t, level_of_measurement=level)),
            )
        line(
            "the same, interval, with 1,000 resamples",
            units,
            timed(lambda t=table: alpha(t, "interval", rng=np.random.default_rng(0)).value),
            timed(lambda t=table: krippendorff.alpha(t, level_of_measurement="interval")),
            1001,
        )
        beside_evalica(units)
        full = ratings(units, 0.0)
        long = pd.DataFrame(
            {"unit": np.tile(np.arange(units), 3), "rater": np.repeat([0, 1, 2], units), "score": full.reshape(-1)}
        )

        def theirs(long: pd.DataFrame = long) -> float:
            found = pingouin.intraclass_corr(long, targets="unit", raters="rater", ratings="score")
            return float(found["ICC"].iloc[1])  # single rater, absolute agreement

        line("six ICCs with intervals", units, timed(lambda t=full: icc(t)["ICC(A,1)"].value), timed(theirs))


if __name__ == "__main__":
    main()
