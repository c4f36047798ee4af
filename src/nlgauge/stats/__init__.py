"""Arrays in, numbers out: coefficients, groupings, resampling, tests, agreement. Knows nothing of files or texts."""
