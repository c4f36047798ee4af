"""Resampling: bootstrap and jackknife confidence intervals for other systems, inputs or annotators."""
