"""Readers of the formats of mesh files."""
