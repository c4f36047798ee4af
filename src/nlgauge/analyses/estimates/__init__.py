"""Prediction-powered estimates: human ratings of all outputs from few labels and a judge's scores."""
