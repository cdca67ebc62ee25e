"""Gather, scatter, gather-scatter and halo of values with global ids on several ranks."""
