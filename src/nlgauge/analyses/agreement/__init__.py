"""Agreement of metrics with human ratings, inter-annotator agreement, and confidence intervals."""
