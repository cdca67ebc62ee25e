"""Sections of a case file that describe ground, sources and receivers."""
