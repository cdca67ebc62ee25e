"""Files: whole or absent, HDF5 that grows, NetCDF, VTKHDF, text."""
