"""Verdicts (pass or fail) or scores of a judge compared with human labels: verdicts, threshold, calibration, slices."""
