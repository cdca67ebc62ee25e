"""Sections of a case file: grid, medium, sources and receivers."""
