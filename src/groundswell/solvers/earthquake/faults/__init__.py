"""Faults that break by themselves: their planes on the grid, and what friction needs there."""
