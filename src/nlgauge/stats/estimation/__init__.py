"""Means, differences, ranks and correlations of people's ratings from few labels and many scores of judges."""
