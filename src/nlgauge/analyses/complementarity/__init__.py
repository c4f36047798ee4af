"""What metrics see together: rankings, consensus, prediction (colombo2023)."""
