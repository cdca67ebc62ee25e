"""Spectral elements on GLL hexahedra: geometry, function spaces, kernels, partition, output."""
