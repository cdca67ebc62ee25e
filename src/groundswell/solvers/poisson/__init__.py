"""Screened Poisson's equation by spectral elements: -div grad u + lambda u = f on hexahedra."""
