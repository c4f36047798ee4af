"""Rankings: distances, consensus, Bradley–Terry models and preference similarity."""
