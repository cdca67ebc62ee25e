"""The end of `groundswell run`: draw the pictures and print a summary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groundswell.case.quantities import duration
from groundswell.cli.text_tables import pairs, warn
from groundswell.errors import InputError
from groundswell.simulation.progress import phase_progress
from groundswell.simulation.summary import (
    Summary,
    describe_bandwidth,
    describe_share,
    phase_of_steps,
    read_summary,
    share_of_steps,
)

LISTED = 8  # number of files that are listed by name


def with_pictures(folder: Path, *, quiet: bool) -> Summary:
    """Draw the pictures of a run; returns the summary, to which it adds their file names.

    The run itself is complete, so a picture that cannot be drawn causes only a warning.
    """
    from groundswell.report.pictures import draw_and_list

    problems = list[str]()
    try:
        with phase_progress("Drawing pictures", quiet=quiet):
            draw_and_list(folder, problems.append)
    except InputError as error:  # another run has begun
        problems.append(f"no pictures: {error}")
    warn(problems)
    return read_summary(folder)


def show(folder: Path, summary: Summary) -> None:
    """Print findings, throughput, bandwidth, wall time, files and warnings."""
    throughput, wall = summary["throughput"], summary["wall"]
    phases = ", ".join(f"{name} {duration(seconds)}" for name, seconds in wall.items())
    pairs(
        summary["title"] or folder.name,
        {
            **_findings(summary),
            "device": summary["device"],
            "throughput": f"{throughput['value']:,.4g} {throughput['unit']}",
            "memory traffic": " ".join(describe_bandwidth(summary["bandwidth"])),
            "wall time": f"{duration(sum(wall.values()))} ({phases})",
            phase_of_steps(wall): f"{100 * share_of_steps(wall):.0f} % of the wall time",
            **_kernels(summary.get("kernel_groups")),
            "results": f"{folder}/",
            "files": _listed(summary["files"]),
        },
    )
    warn([*summary["case"].get("warnings", []), *summary.get("warnings", [])])


def _findings(summary: Summary) -> dict[str, str]:
    """Results that are a few numbers, by their labels."""
    found = summary.get("findings", {}).get("quantities", [])
    return {each["label"]: each["text"] for each in found if each["label"]}


def _kernels(groups: Mapping[str, Any] | None) -> dict[str, str]:
    """The shares of groups of kernels, if the run has timed any."""
    if groups is None:
        return {}
    shares = (f"{name} {describe_share(share)}" for name, share in groups["shares"].items())
    return {"kernels": f"{', '.join(shares)} (in {groups['timed']})"}


def _listed(files: list[str]) -> str:
    first = [name for name in files if "/" not in name][:LISTED]
    rest = len(files) - len(first)
    return ", ".join(first) + (f" and {rest} more" if rest else "")
