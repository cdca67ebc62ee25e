"""Messages of the commands on standard output."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress

from groundswell.backends import Backend
from groundswell.grids.cartesian import describe_grid
from groundswell.solvers.ultrasound.kwave.arguments import Options
from groundswell.solvers.ultrasound.kwave.input_file import KWaveInput
from groundswell.version import __version__

Report = Callable[[int], None]  # receives the number of steps made


class Log:
    """Messages of a run.

    Args:
        verbose: 0 for progress only, 1 to add the medium and sources, 2 to add the device and the
            outputs.
        percent: interval between progress messages, percent of all steps.
    """

    def __init__(self, verbose: int, percent: int) -> None:
        self._verbose, self._percent = verbose, percent

    def say(self, text: str, level: int = 0) -> None:
        """Print a message if the run is at least as verbose as `level`."""
        if self._verbose >= level:
            with suppress(OSError):  # a closed log must not stop the run
                print(text, flush=True)

    def warn(self, text: str) -> None:
        """Print a warning on standard error."""
        print(f"warning: {text}", file=sys.stderr)

    def describe(self, program: str, backend: Backend, data: KWaveInput, options: Options) -> None:
        """Print a description of the simulation."""
        grid, medium = data.grid, data.materials
        kinds = {
            "absorbing": medium.is_absorbing,
            "nonlinear": medium.is_nonlinear,
        }
        words = [name for name, applies in kinds.items() if applies] or ["lossless, linear"]
        self.say(f"{program} of Groundswell {__version__}")
        self.say(f"{describe_grid(grid.cells, grid.spacing, 'points of {} m')}, {data.steps} steps")
        self.say(f"Medium: {', '.join(words)}; sources: {len(data.sources)}", 1)
        self.say(f"Device: {backend.device}", 2)
        self.say(f"Outputs: {', '.join(sorted(options.outputs))}", 2)

    def progress(self, steps: int, first: int) -> Report:
        """A function that prints the progress every few percent."""
        begun, interval = time.monotonic(), steps * self._percent / 100
        following = first + interval

        def report(done: int) -> None:
            nonlocal following
            if done < following:
                return
            following = (done // interval + 1) * interval
            passed = time.monotonic() - begun
            left = passed * (steps - done) / max(done - first, 1)
            self.say(f"{100 * done / steps:5.1f} %  {passed:8.1f} s  {left:8.1f} s left")

        return report
