"""A program for several ranks: kspaceFirstOrder-OMP, which must succeed.

mpiexec -n 2 python kwave_program.py -i in.h5 -o out.h5
"""

from __future__ import annotations

import sys

from groundswell.solvers.ultrasound.kwave.command import main_omp

if __name__ == "__main__":
    code = main_omp(sys.argv[1:])
    assert code == 0, code
