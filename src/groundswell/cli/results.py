"""What `groundswell run` does after the run: pictures, and a summary for the eye."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from groundswell.cli.tables import gigabytes, pairs, warn
from groundswell.errors import GroundswellError
from groundswell.simulation.summary import add_files, read_summary

LISTED = 8  # files that are named; of more, their number


def with_pictures(folder: Path) -> dict[str, Any]:
    """Draw the pictures of a run and return its summary with them in it.

    The run is over and whole: a picture that cannot be drawn is a warning.
    """
    from groundswell.report.pictures import draw_pictures

    try:
        return add_files(folder, draw_pictures(folder))
    except GroundswellError as error:
        print(f"groundswell: no pictures: {error}", file=sys.stderr)
        return read_summary(folder)


def show(folder: Path, summary: dict[str, Any]) -> None:
    """Print throughput, share of bandwidth, wall time and files."""
    throughput, bandwidth = summary["throughput"], summary["bandwidth"]
    wall = summary["wall"]
    phases = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in wall.items())
    pairs(
        summary["title"] or folder.name,
        {
            "device": summary["device"],
            "throughput": f"{throughput['value']:,.4g} {throughput['unit']}",
            "bandwidth": f"{gigabytes(bandwidth['used'])}/s, {100 * bandwidth['share']:.0f} % of "
            f"the {gigabytes(bandwidth['measured'])}/s measured",
            "wall time": f"{sum(wall.values()):.1f} s ({phases})",
            "results": f"{folder}/",
            "files": _listed(summary["files"]),
        },
    )
    warn([*summary["case"].get("warnings", []), *summary.get("warnings", [])])


def _listed(files: list[str]) -> str:
    first = [name for name in files if "/" not in name][:LISTED]
    rest = len(files) - len(first)
    return ", ".join(first) + (f" and {rest} more" if rest else "")
