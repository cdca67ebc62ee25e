"""Conditions at the boundaries of the region, and what absorbs waves there.

Matched layers and sponges are elements around a grid; a mesh has sponges at its surfaces.
"""
