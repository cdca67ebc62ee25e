"""Soft soil that yields, on the grid: which cells, and what their elements need."""
