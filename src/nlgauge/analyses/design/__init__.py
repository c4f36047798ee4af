"""Which measure to use, and how much data is needed (gao2025)."""
