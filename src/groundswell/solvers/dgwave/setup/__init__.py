"""Host-side preparation: mesh, materials, sources, receivers, time step and estimates."""

from __future__ import annotations

from groundswell.solvers.dgwave.setup.bricks import Setup as Setup
from groundswell.solvers.dgwave.setup.unstructured import AnySetup as AnySetup
