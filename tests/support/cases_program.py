"""A program for several ranks: runs many cases, one after the other.

    mpiexec -n 4 python cases_program.py CASES.json FOLDER

The file maps names to cases; the results of each are in a folder of that name. What a rank of each
took is printed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bandwidths import bandwidths_not_kept
from kept_datasets import datasets_kept

from groundswell import registry
from groundswell.backends.base import Backend
from groundswell.simulation.run import run


def quick(*_: Any, **__: Any) -> float:
    """Stands in for a measurement that takes longer than a small case."""
    return 1.0


def main() -> None:
    """Run the cases that the command line names."""
    cases, folder = (Path(argument) for argument in sys.argv[1:3])
    quickly = patch.object(Backend, "measure_bandwidth", quick)
    with quickly, bandwidths_not_kept(), datasets_kept():
        for name, content in json.loads(cases.read_text()).items():
            schema = registry.find(content.get("solver", "earthquake")).load("case")
            run(schema.from_dict(content), folder=folder / name)


if __name__ == "__main__":
    main()
