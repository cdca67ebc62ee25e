"""Spectral elements on hexahedra, for any equation: geometry, tensor kernels, numbering, output."""
