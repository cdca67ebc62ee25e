"""Recorders: receivers, motion of the surface, and snapshots of whole fields."""
