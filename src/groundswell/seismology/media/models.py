"""Opening of models on grids, by their format."""

from __future__ import annotations

from groundswell.seismology.case.model_files import GriddedSection, SegySection
from groundswell.seismology.media.netcdf import open_netcdf_model
from groundswell.seismology.media.rock_model import RockModel
from groundswell.seismology.media.rules import Rules, Water
from groundswell.seismology.media.segy import open_segy_model


def open_model(section: GriddedSection) -> RockModel:
    """Open the model of a medium.

    Raises:
        InputError: the file is unreadable or incomplete.
    """
    water = Water(**section.water.model_dump()) if section.water else None
    rules = Rules(section.vs_rule, section.rho_rule, section.q_rule, water)
    if isinstance(section, SegySection):
        return RockModel(open_segy_model(section), rules)
    variables = section.variables.model_dump(exclude_none=True) if section.variables else {}
    return RockModel(open_netcdf_model(section.file), rules, variables)
