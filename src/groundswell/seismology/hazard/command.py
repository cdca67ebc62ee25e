"""`groundswell hazard`: reads the input file, computes hazard and writes the results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundswell.case import Settings
from groundswell.errors import InputError
from groundswell.formats.atomic import disk_errors
from groundswell.formats.text import read_json, write_json
from groundswell.seismology.hazard.analysis import Hazard, compute
from groundswell.seismology.hazard.case import load_hazard_case
from groundswell.seismology.hazard.files import map_of, write_results
from groundswell.seismology.hazard.openquake import write_openquake
from groundswell.seismology.hazard.plots import draw_pictures
from groundswell.seismology.hazard.plots.maps import require_drawable
from groundswell.seismology.map_lines.run import require_lines
from groundswell.simulation.results_folder import require_writable
from groundswell.version import __version__

NAME = "hazard.json"


@dataclass(frozen=True)
class HazardResult:
    """The folder and the content of `hazard.json`, and the results."""

    folder: Path
    summary: Mapping[str, Any]
    hazard: Hazard


def run_hazard(
    path: str | Path,
    *,
    folder: str | Path | None = None,
    settings: Settings | None = None,
    pictures: bool = True,
) -> HazardResult:
    """Compute seismic hazard and write the results.

    Files of an earlier analysis in the folder are replaced, and those that the new one does not
    write are deleted.

    Args:
        path: the input file (TOML); see `case.HazardCase`.
        folder: folder of the results; by default the one that the file names.
        settings: values of the file to replace, by path; see `groundswell.case.set_values`.
        pictures: whether to draw pictures; the file can also disable them.

    Raises:
        InputError: the input cannot be used; nothing has been written.
        RunFailed: the disk is full.
    """
    case = load_hazard_case(path, settings)
    target = Path(folder) if folder is not None else case.output.directory
    require_writable(target)
    has_pictures = pictures and case.output.pictures
    if has_pictures:
        require_lines(case.output.map_lines)
    hazard = compute(case)
    if has_pictures:
        require_drawable(hazard)
    earlier = _files_in(target)
    written = write_results(target, hazard)
    if case.output.openquake:
        written += write_openquake(target / "openquake", hazard)
    if has_pictures:
        written += draw_pictures(target, hazard)
    names = [each.relative_to(target).as_posix() for each in written]
    summary = {**_summary(hazard), "files": names}
    write_json(target / NAME, summary)
    _remove(target, set(earlier) - set(names))
    return HazardResult(target, summary, hazard)


def _summary(hazard: Hazard) -> dict[str, Any]:
    case, sites = hazard.case, hazard.sites
    return {
        "title": case.title,
        "settings": case.settings,
        "sites": len(sites),
        "exposure": case.exposure,
        "branches": [
            {
                "name": branch.name,
                "weight": branch.weight,
                "ruptures": len(branch.ruptures),
                "rate": float(branch.ruptures.rates.sum()),
                "moment_rate": branch.ruptures.moment_rate,
            }
            for branch in hazard.branches
        ],
        "levels": _levels(hazard),
        "warnings": hazard.warnings,
        "version": __version__,
    }


def _levels(hazard: Hazard) -> list[dict[str, Any]]:
    """Levels (SI units; None beyond the curves) at the chosen sites and all return periods."""
    case, sites = hazard.case, hazard.sites
    chosen = [*case.output.sites] or [*sites.names[:3]]
    return [
        {
            "site": name,
            "measure": str(measure),
            "return_period": years,
            "level": value if (value := float(values[sites.index(name)])) == value else None,
        }
        for measure in case.measures
        for years in case.return_periods
        for values in [map_of(hazard, measure, years)]
        for name in chosen
    ]


def _files_in(folder: Path) -> list[str]:
    """The files of an earlier analysis."""
    try:
        files = read_json(folder / NAME)["files"]
        return [name for name in files if isinstance(name, str)]
    except (InputError, LookupError, TypeError):
        return []


def _remove(folder: Path, names: set[str]) -> None:
    with disk_errors(folder):
        for name in names:
            path = (folder / name).resolve()
            if path.is_relative_to(folder.resolve()):  # the names come from a file
                path.unlink(missing_ok=True)
