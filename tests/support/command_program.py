"""`groundswell`, whose commands measure the bandwidth of memory on a megabyte.

    python command_program.py run case.toml

On 384, as for users, it takes half a second of each process. The command is the same in all else.
"""

from __future__ import annotations

import sys

from groundswell.cli import main


def measure_little() -> None:
    """Replace the measurement; other commands load no backend."""
    from bandwidths import keep_no_bandwidths

    from groundswell.backends import Backend

    keep_no_bandwidths()
    measure = Backend.measure_bandwidth
    Backend.measure_bandwidth = (  # type: ignore[method-assign]
        lambda self, megabytes=1, repeats=1: measure(self, megabytes, repeats)
    )


if __name__ == "__main__":
    if {"run", "check", "info"} & set(sys.argv[1:2]):
        measure_little()
    sys.exit(main())
