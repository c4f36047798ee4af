"""A judge's pass or fail (or its number) beside people's pass or fail on some rows: verdicts, threshold, calibration,
slices.
"""
