"""The points at which a case records the strain due to a force."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.green.point_files import KEY
from groundswell.seismology.green.points import GreenSurvey, build_green
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.point_sources import PointSource, SourceContext
from groundswell.seismology.survey import Survey
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.setup.record import WaveDomain


def build_strain_points(
    case: DgWaveCase, survey: Survey, context: SourceContext, ground: WaveDomain
) -> GreenSurvey | None:
    """The force and the points of a case; None if it does not record strain.

    Raises:
        InputError: see `build_green`; also if points lie in absorbing layers, or the material
            varies inside elements.
    """
    section = case.output.strain_green_tensor
    if section and ground.materials.is_nodal:
        raise InputError(f'{KEY} is not available with method.material = "node"; use "element"')

    def require_inside(positions: Floats) -> None:
        _require_in_elements(ground, survey.entries[0], positions)
        _require_outside_layers(ground, positions)

    is_linear = not (case.fault or case.plasticity)
    return build_green(section, survey.entries, context, require_inside, is_linear=is_linear)


def _require_in_elements(ground: WaveDomain, force: SourceEntry, positions: Floats) -> None:
    """Check that positions lie in the elements, as those of sources must."""
    points = [
        PointSource((x, y, z), np.ones(6), None, 0.0, 1.0, np.ones(1), n + 1)
        for n, (x, y, z) in enumerate(positions.tolist())
    ]
    try:
        ground.geometry.require_inside(Survey([SourceEntry(force.section, points)], []))
    except InputError as error:
        raise InputError(str(error).replace("source[0]", KEY)) from None


def _require_outside_layers(ground: WaveDomain, positions: Floats) -> None:
    """Check that positions lie outside of absorbing layers and sponges."""
    inside = np.isin(ground.geometry.locate(positions)[0], ground.absorption.elements)
    if inside.any():
        x, y, depth = positions[int(inside.argmax())]
        raise InputError(
            f"{KEY}: {int(inside.sum())} of {len(positions)} points lie in an absorbing layer, "
            f"where waves are damped, the first of them at x = {x:.6g} m, y = {y:.6g} m, "
            f"depth = {depth:.6g} m; move them, or enlarge the region"
        )
