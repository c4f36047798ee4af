"""Rankings: distances, consensus, preferences, levels of quality."""
