"""Figures: record sections, shaking maps, snapshots of the surface, sources."""
