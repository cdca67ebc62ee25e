"""Opening of models on grids, by their format."""

from __future__ import annotations

from groundswell.exchange.communicator import Communicator
from groundswell.seismology.case.model_files import (
    ColumnsSection,
    GriddedSection,
    SegySection,
    SpecfemSection,
)
from groundswell.seismology.media.columns import open_columns_model
from groundswell.seismology.media.model_grid import ModelGrid
from groundswell.seismology.media.netcdf import open_netcdf_model
from groundswell.seismology.media.rock_model import RockModel
from groundswell.seismology.media.rules import Rules, Water
from groundswell.seismology.media.segy import open_segy_model
from groundswell.seismology.media.specfem import open_specfem_model


def open_model(section: GriddedSection, comm: Communicator | None = None) -> RockModel:
    """Open the model of a medium; all ranks must call this.

    Raises:
        InputError: the file is unreadable or incomplete.
    """
    water = Water(**section.water.model_dump()) if section.water else None
    rules = Rules(section.vs_rule, section.rho_rule, section.q_rule, water)
    grid = _open_grid(section, comm)
    if section.corner is not None:
        grid.frame = grid.frame.moved(section.corner)
    variables = getattr(section, "variables", None)
    return RockModel(grid, rules, variables.model_dump(exclude_none=True) if variables else {})


def _open_grid(section: GriddedSection, comm: Communicator | None) -> ModelGrid:
    match section:
        case SegySection():
            return open_segy_model(section)
        case SpecfemSection():
            return open_specfem_model(section, comm)
        case ColumnsSection():
            return open_columns_model(section, comm)
        case _:
            return open_netcdf_model(section.file)
