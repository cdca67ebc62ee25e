"""k-Wave's HDF5 files and the commands kspaceFirstOrder-OMP and kspaceFirstOrder-CUDA.

k-Wave (k-wave.org) is a toolbox for MATLAB and Python. It writes a simulation to an input file,
starts one of these commands and reads the output file.
"""

from __future__ import annotations
