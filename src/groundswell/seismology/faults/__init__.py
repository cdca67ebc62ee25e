"""Faults that break by themselves: their points, initial conditions and friction."""
