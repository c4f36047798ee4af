"""Prediction-powered estimates: mean human ratings of all outputs from a small labeled sample and a judge's scores."""
