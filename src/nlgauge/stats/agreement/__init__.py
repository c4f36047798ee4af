"""How well raters agree, and how high a metric could come."""
