"""Recording of fields while a solver runs."""
