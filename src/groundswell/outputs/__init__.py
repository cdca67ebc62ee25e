"""What a solver can record while it runs."""
