"""Choice of the measure of agreement, sample size and power (Gao et al. 2025)."""
