"""Faults that break by themselves: their faces between elements, and what friction needs there."""
