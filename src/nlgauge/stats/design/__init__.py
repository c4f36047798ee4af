"""Study design: simulation, power, stability of measures, prediction on held-out data."""
