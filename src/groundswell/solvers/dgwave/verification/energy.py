"""Energy: the central flux conserves it, the Riemann flux dissipates it, and no flux adds any.

Media and fields are random. Some elements are fluid, and some are halved. Materials are those of
elements or of nodes. Rates are those of the semi-discrete scheme.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.meshes.octree import Forest, uniform_forest
from groundswell.meshes.octree_refinement import balance, refine
from groundswell.solvers.dgwave.equations import FREE_SURFACE, RIGID
from groundswell.solvers.dgwave.verification.boxes import Box, Media
from groundswell.verify import Check

ROUNDING = 1e-13
ENDS = (FREE_SURFACE, RIGID, RIGID, FREE_SURFACE, FREE_SURFACE, RIGID)
KINDS = {"solid and fluid elements": False, "fluid elements": True}  # acoustic equations
FLUXES = {"central flux": 0.0, "mean of both fluxes": 0.5, "Riemann flux": 1.0}
MEDIA = {"": False, ", media of nodes": True}
DEGREES = {False: (3,), True: (1, 2, 3, 5, 7)}
STEPS = 200


def conservation(backend: Backend, full: bool) -> Iterator[Check]:
    """Energy rates in closed boxes, relative to the energy norms of the fields and their rates."""
    kinds = product(KINDS.items(), MEDIA.items(), (False, True), DEGREES[full])
    for (name, acoustic), (media, nodal), halved, degree in kinds:
        title = f"{name}{', some halved' * halved}{media}, degree {degree}: energy rate"
        for flux, upwind in FLUXES.items():
            box = replace(_box(degree, acoustic, halved, upwind), nodal=nodal)
            rate = _energy_rate(backend, box)
            if upwind == 0:
                yield Check.near(f"{title}, {flux}", rate, 0, ROUNDING)
            else:
                yield Check.at_most(f"{title}, {flux}", rate, -1e-3)


def _energy_rate(backend: Backend, box: Box) -> float:
    u = box.random_fields(1)
    rates = box.rates(backend, u)
    norms = [np.sqrt(box.product(f, f).sum()) for f in (u, rates)]
    return float(box.product(u, rates).sum() / np.prod(norms))


def time_steps(backend: Backend, full: bool) -> Iterator[Check]:
    """Energy lost by the time scheme with the central flux, and the order of the loss."""
    losses = []
    for courant in (0.5, 0.25):
        box = _box(3, False, True, 0.0, courant)
        u = box.random_fields(1)
        found = box.advanced(backend, u, STEPS / courant * box.dt)
        losses.append(float(1 - box.product(found, found).sum() / box.product(u, u).sum()))
    note = f"losses {losses[0]:.2e}, {losses[1]:.2e}"
    yield Check.at_least("time steps: energy lost over a fixed time", losses[1], 0.0, note=note)
    order = float(np.log2(losses[0] / losses[1]))
    yield Check.at_least("time steps: order of the loss", order, 4.0, note=note)


def spectrum(backend: Backend, full: bool) -> Iterator[Check]:
    """Eigenvalues for one element next to eight halved ones: none has a positive real part."""
    boxes = product(_small_boxes(full), (("central flux", 0.0), ("Riemann flux", 1.0)))
    for (kind, box), (flux, upwind) in boxes:
        values = np.linalg.eigvals(_matrix(backend, replace(box, upwind=upwind)))
        largest = float(values.real.max() / np.abs(values).max())
        count = f"largest real part of {len(values)} eigenvalues"
        name = f"{kind}, degree {box.degree}, {flux}: {count}"
        yield Check.at_most(name, largest, ROUNDING, note="over the largest magnitude")


def _small_boxes(full: bool) -> Iterator[tuple[str, Box]]:
    """Boxes with few unknowns, and what they contain."""
    fluid = {"fluid elements": 1.0}
    media = fluid | ({"solid elements": 0.0, "solid and fluid elements": 0.5} if full else {})
    shapes = {"": None, "warped ": _bend}
    for (name, fluids), (shape, deform), nodes in product(media.items(), shapes.items(), MEDIA):
        forest = _halve(_bricks((2, 1, 1)), 0.6)
        degree = 2 if full else 1
        box = Box(forest, degree, _random_media(2, fluids), name in fluid, ends=ENDS)
        box = replace(box, nodal=MEDIA[nodes], deform=deform)
        yield f"{shape}{name}{nodes}", box
        if full and name in fluid:
            yield f"{shape}{name}{nodes}", replace(box, degree=3)


def _bend(points: Floats) -> Floats:
    """Positions in a box whose planes are bent along all axes."""
    return np.asarray(points + 0.05 * np.sin(2 * points[..., [1, 2, 0]] + [0.3, 1.0, 2.0]))


def _matrix(backend: Backend, box: Box) -> Floats:
    """The matrix of the semi-discrete scheme, scaled so that energy is a sum of squares.

    A fluid element of the elastic equations has one stress, the pressure.
    """
    zeros = np.zeros_like(box.random_fields(0))
    independent = np.ones(zeros.shape, bool)
    if not box.acoustic:
        independent[box.fluid, 1:6] = False
    found = box.start(backend, zeros)
    launch = in_order([*found.prepare, *found.stage(0)])
    columns, scale = [], []
    for element, field, node in np.argwhere(independent):
        unit = zeros.copy()
        is_pressure = field == 0 and not box.acoustic and box.fluid[element]
        unit[element, field : 3 if is_pressure else field + 1, node] = 1
        backend.assign(found.u, unit)
        launch()
        backend.synchronize()
        columns.append(np.array(backend.to_host(found.r))[independent])
        scale.append(np.sqrt(box.product(unit, unit).sum()))
    return np.array(columns).T * np.array(scale)[:, None] / scale


# --- random boxes ---------------------------------------------------------------------------------


def _box(degree: int, acoustic: bool, halved: bool, upwind: float, courant: float = 1.0) -> Box:
    bricks = _bricks((3, 2, 3))
    forest = _halve(bricks, 0.4) if halved else bricks
    media = _random_media(3, 1.0 if acoustic else 0.3)
    return Box(forest, degree, media, acoustic, upwind, ENDS, courant)


def _bricks(counts: tuple[int, int, int]) -> Forest:
    """Bricks with random edge lengths."""
    rng = np.random.default_rng(6)
    edges = [np.concatenate([[0.0], np.cumsum(rng.uniform(0.5, 1.5, n))]) for n in counts]
    return uniform_forest(edges)


def _halve(bricks: Forest, share: float) -> Forest:
    """The forest with elements at low x divided into eight, up to a fraction of its length."""
    end = share * bricks.edges[0][-1]
    return balance(refine(bricks, lambda lower, upper: upper[:, 0] <= end, 1))


def _random_media(seed: int, fluids: float) -> Media:
    """Random speeds and densities; a fraction of the elements is fluid."""

    def media(places: Floats) -> list[Floats]:
        rng, count = np.random.default_rng(seed), places[0].size
        vs, ratio, rho = rng.uniform([[0.5], [1.6], [1.0]], [[1.0], [2.0], [2.0]], (3, count))
        fluid = rng.random((places.shape[1], *[1] * (places.ndim - 2))) < fluids
        vp, vs, rho = (values.reshape(places.shape[1:]) for values in (vs * ratio, vs, rho))
        return [vp, np.where(fluid, 0.0, vs), rho]

    return media
