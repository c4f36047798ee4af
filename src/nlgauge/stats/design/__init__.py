"""Studies before they are made: simulation, power, stability of measures, prediction on held-out data."""
