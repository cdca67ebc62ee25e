"""File formats: atomic writes, appendable HDF5, NetCDF, VTKHDF and text."""
