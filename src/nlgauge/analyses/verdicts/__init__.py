"""A judge's pass or fail (or number) beside people's on some rows: verdicts, threshold, calibration, slices."""
