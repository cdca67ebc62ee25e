"""The `groundswell` command with sponges that amplify waves instead of damping them.

mpiexec -n 2 python amplifying_sponges_program.py run case.toml
"""

from __future__ import annotations

import sys
from typing import Any

from groundswell.cli import main
from groundswell.solvers.dgwave.boundaries.layer_absorption import LayerAbsorption
from groundswell.solvers.earthquake import absorbing_layers


def amplify() -> None:
    """Turn the damping of both seismic solvers around."""
    sponge, damping = absorbing_layers.sponge, LayerAbsorption.damping

    def growing(*arguments: Any) -> Any:
        return 1 + (1 - sponge(*arguments)) / 10

    def gain(*arguments: Any) -> Any:
        rows, rates = damping(*arguments)
        return rows, -rates / 10

    absorbing_layers.sponge = growing  # type: ignore[assignment]
    LayerAbsorption.damping = gain  # type: ignore[method-assign]


if __name__ == "__main__":
    amplify()
    sys.exit(main())
