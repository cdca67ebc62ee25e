"""LOH.1, LOH.3, a double couple in three layers over a half-space, and an airgun in the sea."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.seismology.problems import layers, loh, ocean
from groundswell.seismology.problems.case_sections import layered_medium, needs_misfits
from groundswell.seismology.reference.loh import COMPONENTS, PROBLEMS
from groundswell.solvers.dgwave.verification.simulation import make_case, motion, recordings
from groundswell.verify import Check

DEGREE = 4
WIDTH = 3  # elements of matched layers

# LOH.1 and LOH.3: elements across the layer, highest frequency (Hz), and limits of misfits (%), in
# the quick and the full form. Elements below the layer are larger.
ACROSS, HIGHEST = {False: 1, True: 2}, {False: 1.25, True: 2.5}
MISFIT = {False: 10.0, True: 5.0}
GAUSSIAN = {False: {"loh1": 1.5, "loh3": 2.0}, True: {"loh1": 0.6, "loh3": 3.0}}  # %

LAYER = 1000.0  # m, thickness of that of LOH.1 and LOH.3

INTERFACES = (800.0, 2000.0, 3600.0)  # m, on element faces
# Elements of the three layers (m), and limits of the misfit, %.
LAYERS = {False: (400.0, 2, 10.0), True: (400.0, 4, 0.2)}

SEA_EDGE = 150.0  # m, edge of elements; interfaces and the sea floor are on faces
# Degree, and limits of the misfits of hydrophones, and of pressure and velocity of nodes, %.
SEA = {False: (4, (0.5, 0.5, 2.0)), True: (5, (0.1, 0.1, 0.5))}


@needs_misfits
def loh1(backend: Backend, full: bool) -> Iterator[Check]:
    """The elastic problem, compared with the published solution."""
    return _published("loh1", backend, full)


@needs_misfits
def loh3(backend: Backend, full: bool) -> Iterator[Check]:
    """The anelastic problem, constant Q, compared with the published solution."""
    return _published("loh3", backend, full)


def gaussian(backend: Backend, full: bool) -> Iterator[Check]:
    """Both problems with a Gaussian moment rate, compared with wavenumber integration (L2)."""
    for name, limit in GAUSSIAN[full].items():
        misfit = loh.gaussian_misfit(
            PROBLEMS[name], *_loh_motion(name, loh.GAUSSIAN, backend, full)
        )
        title = f"{PROBLEMS[name].name}, Gaussian: misfit"
        yield Check.at_most(title, misfit, limit, "%", _elements(full))


def interfaces_on_faces(backend: Backend, full: bool) -> Iterator[Check]:
    """Three layers, compared with wavenumber integration (L2)."""
    edge, degree, limit = LAYERS[full]
    ground = layers.layers(INTERFACES)
    sections = layers.sections(layered_medium(ground), edge)
    sections["grid"]["size"] = [float(np.ceil(size / edge) * edge) for size in layers.SIZE]
    boundary = {"width": max(WIDTH, 12 // degree)}
    case = make_case(method={"degree": degree}, boundary=boundary, **sections)
    misfit = layers.misfit(ground, *motion(case, backend))
    note = f"elements of {edge:g} m and degree {degree}, {len(layers.OFFSETS)} stations"
    yield Check.at_most("three layers: misfit", misfit, limit, "%", note)


def airgun(backend: Backend, full: bool) -> Iterator[Check]:
    """Hydrophones and nodes on the sea floor, compared with wavenumber integration (L2)."""
    degree, limits = SEA[full]
    sections = ocean.sections(SEA_EDGE)
    case = make_case(method={"degree": degree}, boundary={"width": 2}, **sections)
    time, recorded = recordings(case, backend)
    note = f"elements of {SEA_EDGE:g} m and degree {degree}"
    for (name, misfit), limit in zip(ocean.misfits(time, **recorded).items(), limits, strict=True):
        yield Check.at_most(f"airgun, {name}: misfit", misfit, limit, "%", note)


def _published(name: str, backend: Backend, full: bool) -> Iterator[Check]:
    time_function = loh.brune(PROBLEMS[name])
    found = loh.published_misfits(
        name, *_loh_motion(name, time_function, backend, full), HIGHEST[full]
    )
    note = f"{_elements(full)}, below {HIGHEST[full]:g} Hz"
    for n, component in enumerate(COMPONENTS):
        for kind, misfit in (("envelope", found.envelope[n]), ("phase", found.phase[n])):
            title = f"{PROBLEMS[name].name} {component}: {kind} misfit"
            yield Check.at_most(title, misfit, MISFIT[full], "%", note)


def _loh_motion(
    name: str, time_function: dict[str, object], backend: Backend, full: bool
) -> tuple[Floats, Floats]:
    case = make_case(
        grid={"size": loh.SIZE, "spacing": _edges(ACROSS[full])},
        method={"degree": DEGREE},
        boundary={"width": 2},
        **loh.sections(PROBLEMS[name], time_function),
    )
    return motion(case, backend)


def _edges(across: int) -> tuple[float, float, list[float]]:
    """Edges of elements along x, y and z, m."""
    x, y, depth = loh.SIZE
    below = (depth - LAYER) / (3 * across)
    return x / (8 * across), y / (10 * across), [LAYER / across] * across + [below] * 3 * across


def _elements(full: bool) -> str:
    x, _, z = _edges(ACROSS[full])
    return f"elements of {x:g} m, {z[0]:g} m high in the layer"
