"""Estimates the device memory of a rank: fields, traces, tables, the surface, and snapshots."""

from __future__ import annotations

import numpy as np

from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.outputs.ring_buffer import ring_bytes
from groundswell.solvers.dgwave.kernel_shapes import pitch
from groundswell.solvers.dgwave.mesh.curved import METRICS
from groundswell.solvers.dgwave.mesh.elements import FACES, RankElements
from groundswell.solvers.dgwave.recording.lattice import (
    PEAKS,
    has_shaking_map,
    sample_bytes,
    surface_axes,
    surface_stride,
)
from groundswell.solvers.dgwave.recording.volumes import snapshot_bytes, volume_stride
from groundswell.solvers.dgwave.setup import Setup
from groundswell.solvers.dgwave.traces import BUFFERS

REGISTERS = 2  # values per variable: the variable and its Runge-Kutta register
COPIES = 2  # of traces, for even and odd stages; of buffers, to send and to receive
ADDRESS = 8  # bytes
FACE = 4  # bytes
LOADED = 30  # elements that have a part of a source, typically
FLUX = 2  # parameters of the flux at each face


def device_memory(setup: Setup, elements: RankElements) -> int:
    """Device memory of a rank's elements, bytes.

    Receivers, `[[output.record]]` and profiles of matched layers are neglected.
    """
    mortars = len(elements.mortars) if elements.has_levels else 0
    first, end = elements.starts[elements.rank : elements.rank + 2]
    sets = int(setup.absorption.layer_axes[first:end].sum())
    values = elements.count * _element_values(setup) + mortars * _mortar_values(setup)
    values += sets * REGISTERS * setup.equations.stretched * (setup.degree + 1) ** AXES
    values += setup.absorption.damping_rows(elements) * (setup.degree + 1) ** AXES
    ranks = len(elements.starts) - 1
    values += len(setup.survey.sources) * LOADED * (setup.degree + 1) ** AXES // ranks
    addresses = 2 * BUFFERS * (elements.count * FACES + mortars * QUARTERS)
    shared, trace = sum(faces.sends.count for faces in elements.shared.values()), setup.trace
    trace_bytes = trace.bytes + (trace.sent_bytes if trace.sent_as else 0)  # both if it is narrowed
    buffers = COPIES * BUFFERS * shared * trace_bytes
    outputs = _output_bytes(setup) // ranks  # if evenly distributed
    return values * np.dtype(setup.dtype).itemsize + addresses * ADDRESS + buffers + outputs


def nodal_tables(setup: Setup) -> int:
    """Values of an element that vary among its nodes: metric terms, materials and impedances."""
    equations, on_face = setup.equations, (setup.degree + 1) ** 2
    inside = METRICS * setup.geometry.is_curved + equations.moduli * setup.materials.is_nodal
    at_faces = FACES * equations.impedances * setup.materials.is_nodal
    return inside * (setup.degree + 1) ** AXES + at_faces * on_face


def _output_bytes(setup: Setup) -> int:
    """Memory of all ranks for maps and series of the surface, and for snapshots."""
    output, found = setup.case.output, 0
    if has_shaking_map(setup):
        peaks = 2 * PEAKS * np.dtype(setup.dtype).itemsize
        found += _points(setup, 1) * (peaks + _point_bytes(setup))
    if output.surface:
        found += _points(setup, output.surface.stride) * _point_bytes(setup)
        found += ring_bytes(sample_bytes(setup), surface_stride(setup))
    if output.volumes:
        found += ring_bytes(snapshot_bytes(setup), volume_stride(setup))
    return found


def _points(setup: Setup, stride: int) -> int:
    """Number of surface points, including those outside the mesh."""
    x, y = surface_axes(setup, stride)
    return x.size * y.size


def _point_bytes(setup: Setup) -> int:
    """Tables for a surface point: its element, its face and its weights."""
    return ADDRESS + FACE + (setup.degree + 1) ** 2 * np.dtype(setup.dtype).itemsize


def _element_values(setup: Setup) -> int:
    """Values of an element: variables, traces and tables."""
    equations, nodes = setup.equations, (setup.degree + 1) ** AXES
    variables = pitch(setup.degree, len(equations.fields))
    bodies = setup.materials.mechanisms
    variables += bodies * equations.strains * nodes
    tables = nodal_tables(setup) + _uniform_tables(setup) + bodies * equations.impedances
    return REGISTERS * variables + COPIES * FACES * _trace_values(setup) + tables


def _uniform_tables(setup: Setup) -> int:
    """Values of an element that its nodes share: edges, fluxes, and a uniform material."""
    own, at_faces = setup.equations.impedances, 2 * FACES * setup.equations.impedances
    material = 0 if setup.materials.is_nodal else setup.equations.moduli + own + at_faces
    return AXES + FACES * FLUX + material


def _mortar_values(setup: Setup) -> int:
    """Values of a face with finer neighbours: traces and tables of quarters, and jumps."""
    impedances, on_face = setup.equations.impedances, (setup.degree + 1) ** 2
    at_quarter = 2 * impedances * (on_face if setup.materials.is_nodal else 1) + FLUX
    at_quarter += AXES * on_face * setup.geometry.is_curved  # normals
    traces = (COPIES * QUARTERS + 1) * _trace_values(setup)
    return traces + QUARTERS * at_quarter


def _trace_values(setup: Setup) -> int:
    return setup.trace.values * setup.trace.nodes
