"""Inter-annotator agreement, the human ceiling, and the accuracy of pass/fail judges."""
