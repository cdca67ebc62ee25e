"""Absorbing layers of elements and sponges at the boundaries of the region."""
