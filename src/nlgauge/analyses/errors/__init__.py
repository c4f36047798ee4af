"""Where metrics fail: outputs, quality levels, damage (novikova2017)."""
