"""File formats of seismology: SRF, AWP-ODC, HDF5, SAC and miniSEED seismograms, station lists."""
