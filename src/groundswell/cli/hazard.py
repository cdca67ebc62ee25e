"""`groundswell hazard`: probabilistic seismic hazard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from groundswell.cli.options import AsJson, SettingTexts, flag, print_json, settings_of
from groundswell.errors import counted

InputFile = Annotated[Path, typer.Argument(metavar="FILE", help="Input file (TOML).")]


def hazard(
    file: InputFile,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Results folder; overrides the input file. Files of an earlier analysis there are "
            "replaced."
        ),
    ] = None,
    settings: SettingTexts = None,
    as_json: AsJson = False,
    no_pictures: Annotated[bool, flag("--no-pictures", text="Draw no pictures.")] = False,
) -> None:
    """Compute probabilistic seismic hazard from ruptures with annual rates and their ground motion.

    The input file defines the ruptures (a table or a source model in NRML), the ground motion
    (simulated intensities or ground-motion models), the sites and the return periods. The results
    are hazard curves, maps, uniform hazard spectra and disaggregations. For example

        groundswell hazard hazard.toml --output hazard-475
    """
    from groundswell.cli import text_tables
    from groundswell.seismology.hazard.command import run_hazard

    result = run_hazard(
        file, folder=output, settings=settings_of(settings), pictures=not no_pictures
    )
    if as_json:
        print_json({"folder": str(result.folder), **result.summary})
        return
    summary = result.summary
    text_tables.pairs(summary["title"] or "Seismic hazard", dict(_rows(summary, result.folder)))
    for measure, rows in _levels(summary):
        text_tables.pairs(measure, rows)
    text_tables.warn(summary["warnings"])


def _rows(summary: Mapping[str, Any], folder: Path) -> Iterator[tuple[str, str]]:
    """Yield names and values of the analysis."""
    branches = summary["branches"]
    yield "sites", f"{summary['sites']:,}"
    for branch in branches:
        share = f"weight {branch['weight']:.3g}: " if len(branches) > 1 else ""
        yield (
            branch["name"],
            f"{share}{counted(branch['ruptures'], 'rupture')}, {branch['rate']:.3g} per year, "
            f"{branch['moment_rate']:.3g} N m per year",
        )
    yield "results", f"{folder}/ ({len(summary['files'])} files)"


def _levels(summary: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each measure, and its levels by site and return period, in its unit."""
    from groundswell.seismology.hazard.measures import Measure

    for name in dict.fromkeys(level["measure"] for level in summary["levels"]):
        measure, rows = Measure.parse(name), dict[str, str]()
        scale, unit = measure.unit
        for level in summary["levels"]:
            if level["measure"] == name:
                known = level["level"] is not None
                text = f"{level['level'] / scale:.3g} {unit}".strip() if known else "-"
                text = f"{text} ({level['return_period']:g} years)"
                rows[level["site"]] = ", ".join(filter(None, [rows.get(level["site"]), text]))
        yield measure.title[0].upper() + measure.title[1:], rows
