"""Rock that yields: its strength, and the stress before the waves, at the nodes of elements."""
