"""Comparison of simulated with observed seismograms: time shifts, correlations and misfits."""
