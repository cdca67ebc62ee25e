"""File formats of seismology: SRF, AWP-ODC, seismograms (HDF5, SAC, miniSEED), station lists."""
