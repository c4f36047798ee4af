"""Prediction-powered estimation: means, differences, ranks and correlations from few human labels and many judge
scores.
"""
