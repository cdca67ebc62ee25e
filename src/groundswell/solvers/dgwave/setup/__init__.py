"""Host-side preparation: reads the input, chooses the time step, estimates memory.

`Setup` prepares cases on bricks; `AnySetup` also those on a mesh from a file.
"""

from __future__ import annotations

from groundswell.solvers.dgwave.setup.bricks import Setup as Setup
from groundswell.solvers.dgwave.setup.unstructured import AnySetup as AnySetup
