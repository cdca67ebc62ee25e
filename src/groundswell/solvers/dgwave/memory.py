"""Estimates the device memory of a rank: fields, traces, tables, the surface, and snapshots."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.outputs.ring_buffer import ring_bytes
from groundswell.seismology.faults.subfaults import FaceQuadrature
from groundswell.seismology.intensity.maps import map_bytes
from groundswell.seismology.recording.fault_series import series_sizes
from groundswell.seismology.time_steps import whole_steps
from groundswell.solvers.dgwave.equations import Equations
from groundswell.solvers.dgwave.faults.faces import WALLS
from groundswell.solvers.dgwave.kernel_shapes import pitch
from groundswell.solvers.dgwave.materials.anelastic import Materials
from groundswell.solvers.dgwave.mesh.curved import METRICS
from groundswell.solvers.dgwave.mesh.elements import FACES, RankElements
from groundswell.solvers.dgwave.plasticity.model import YieldingRock
from groundswell.solvers.dgwave.recording.lattice import (
    PEAKS,
    has_shaking_map,
    intensity_points,
    sample_bytes,
    surface_points,
)
from groundswell.solvers.dgwave.recording.volumes import snapshot_bytes
from groundswell.solvers.dgwave.setup import Setup
from groundswell.solvers.dgwave.traces import BUFFERS

REGISTERS = 2  # values per variable: the variable and its Runge-Kutta register
COPIES = 2  # of traces, for even and odd stages; of buffers, to send and to receive
ADDRESS = 8  # bytes
FACE = 4  # bytes
LOADED = 30  # elements that have a part of a source, typically
FLUX = 2  # parameters of the flux at each face
FRICTION, DOUBLE = 47, 8  # values of a point of a fault, and bytes of each; see kernels/fault.h


def device_memory(setup: Setup, elements: RankElements) -> int:
    """Device memory of a rank's elements, bytes.

    Receivers, `[[output.record]]` and profiles of matched layers are neglected.
    """
    equations, materials, trace = setup.equations, setup.materials, setup.trace
    nodes, ranks = (setup.degree + 1) ** AXES, len(elements.starts) - 1
    mortars = len(elements.mortars) if elements.has_levels else 0
    first, end = elements.starts[elements.rank : elements.rank + 2]
    sets = int(setup.absorption.layer_axes[first:end].sum())
    values = elements.count * _element_values(equations, materials)
    values += mortars * _mortar_values(equations, materials)
    values += sets * REGISTERS * equations.stretched * nodes
    values += setup.absorption.damping_rows(elements) * nodes
    values += len(setup.survey.sources) * LOADED * nodes // ranks
    weights = len(setup.green.points) * LOADED * nodes // ranks if setup.green else 0
    values += elements.count * nodes * _rock_values(setup.rock)
    fault_points = setup.faults.points // ranks if setup.faults else 0
    values += fault_points * WALLS * setup.equations.trace  # jumps
    addresses = 2 * BUFFERS * (elements.count * FACES + mortars * QUARTERS)
    shared = sum(faces.sends.count for faces in elements.shared.values())
    trace_bytes = trace.bytes + (trace.sent_bytes if trace.sent_as else 0)  # both if it is narrowed
    buffers = COPIES * BUFFERS * shared * trace_bytes
    outputs = _output_bytes(setup) // ranks  # if evenly distributed
    friction = fault_points * FRICTION * DOUBLE
    return (
        values * np.dtype(setup.dtype).itemsize
        + addresses * ADDRESS
        + weights * DOUBLE
        + buffers
        + outputs
        + friction
    )


def nodal_tables(equations: Equations, materials: Materials) -> int:
    """Values of an element that vary among its nodes: metric terms, materials and impedances."""
    geometry = materials.elements.geometry
    inside = METRICS * geometry.is_curved + equations.moduli * materials.is_nodal
    at_faces = FACES * equations.impedances * materials.is_nodal
    return inside * (geometry.degree + 1) ** AXES + at_faces * (geometry.degree + 1) ** 2


def _rock_values(rock: YieldingRock | None) -> int:
    """Values of a node of rock that yields: plastic strain, and tables that are not shared."""
    if rock is None:
        return 0
    return 1 if rock.shares_rows else 1 + rock.values


def large_series(setup: Setup) -> Iterator[tuple[int, int]]:
    """Yield steps between samples, and bytes of a sample, of the surface, snapshots and faults."""
    output, geometry, dtype = setup.case.output, setup.geometry, setup.dtype
    if surface := output.surface:
        sample = sample_bytes(surface, geometry, dtype)
        yield whole_steps(surface.interval, setup.dt), sample
    if volumes := output.volumes:
        sample = snapshot_bytes(volumes, geometry, dtype)
        yield whole_steps(volumes.interval, setup.dt), sample
    if faults := setup.faults:
        series = setup.case.output.fault_points, setup.case.output.rupture
        subfaults = FaceQuadrature.of_elements(setup.degree).subfaults * faults.faces.count
        yield from series_sizes(*series, subfaults, setup.dt)


def _output_bytes(setup: Setup) -> int:
    """Memory of all ranks for maps and series of the surface, and for snapshots."""
    geometry, itemsize = setup.geometry, np.dtype(setup.dtype).itemsize
    # The element of a surface point, its face and its weights.
    point = ADDRESS + FACE + (setup.degree + 1) ** 2 * itemsize
    found = sum(ring_bytes(sample, every) for every, sample in large_series(setup))
    if has_shaking_map(setup):
        found += surface_points(geometry) * (2 * PEAKS * itemsize + point)
    count = intensity_points(setup)
    found += map_bytes(setup.case.output.intensity, count, itemsize) + count * point
    if surface := setup.case.output.surface:
        found += surface_points(geometry, surface.stride) * point
    return found


def _element_values(equations: Equations, materials: Materials) -> int:
    """Values of an element: variables, traces and tables."""
    degree, bodies = materials.elements.geometry.degree, materials.mechanisms
    variables = pitch(degree, len(equations.fields))
    variables += bodies * equations.strains * (degree + 1) ** AXES
    traces = equations.trace * (degree + 1) ** 2
    tables = nodal_tables(equations, materials) + bodies * equations.impedances
    tables += _uniform_tables(equations, materials.is_nodal)
    return REGISTERS * variables + COPIES * FACES * traces + tables


def _uniform_tables(equations: Equations, is_nodal: bool) -> int:
    """Values of an element that its nodes share: edges, fluxes, and a uniform material."""
    own, at_faces = equations.impedances, 2 * FACES * equations.impedances
    material = 0 if is_nodal else equations.moduli + own + at_faces
    return AXES + FACES * FLUX + material


def _mortar_values(equations: Equations, materials: Materials) -> int:
    """Values of a face with finer neighbours: traces and tables of quarters, and jumps."""
    geometry = materials.elements.geometry
    on_face = (geometry.degree + 1) ** 2
    at_quarter = 2 * equations.impedances * (on_face if materials.is_nodal else 1) + FLUX
    at_quarter += AXES * on_face * geometry.is_curved  # normals
    traces = (COPIES * QUARTERS + 1) * equations.trace * on_face
    return traces + QUARTERS * at_quarter
