"""What a run costs: memory, traffic and the size of its results."""

from __future__ import annotations

from math import ceil

import numpy as np

from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.formats.fault_maps import COORDINATES, FIELDS
from groundswell.seismology.formats.seismograms import RECORDED_QUANTITIES
from groundswell.seismology.intensity.maps import map_file_bytes
from groundswell.seismology.receivers import that_record
from groundswell.simulation.solver import Cost, DecompositionSummary
from groundswell.solvers.dgwave.boundaries.absorption import Absorption
from groundswell.solvers.dgwave.equations import Equations
from groundswell.solvers.dgwave.materials.anelastic import Materials
from groundswell.solvers.dgwave.memory import device_memory, large_series, nodal_tables
from groundswell.solvers.dgwave.plasticity.model import YieldingRock
from groundswell.solvers.dgwave.recording.lattice import intensity_points
from groundswell.solvers.dgwave.recording.volumes import WORD, final_field_bytes
from groundswell.solvers.dgwave.setup import Setup
from groundswell.spectral_elements.recording import ElementDomain
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME

STRESSES = 6


def estimate(setup: Setup) -> Cost:
    """The cost on one rank; an update is a stage of an unknown."""
    memory = device_memory(setup, setup.partition.elements(1, 0))
    of_kernels = (setup.equations, setup.materials, setup.absorption, setup.dtype)
    traffic = bytes_per_update(*of_kernels, setup.rock)
    return Cost(setup.unknowns * SCHEME.stages, traffic, memory, _files(setup))


def bytes_per_update(
    equations: Equations,
    materials: Materials,
    absorption: Absorption,
    dtype: str,
    rock: YieldingRock | None = None,
) -> float:
    """Minimum memory traffic per unknown and stage, bytes.

    Each stage reads and writes the fields and the register, except that the first stage does not
    read the register. It reads and writes the traces of six faces. It also reads the metric terms
    of elements that are not bricks, and materials that vary inside elements. Memory variables add
    to the traffic, but not to the unknowns. Once a step, yielding rock reads the stress.
    """
    n, fields = materials.elements.geometry.degree + 1, len(equations.fields)
    traces = 2 * 2 * AXES * equations.trace / (fields * n)
    axes = absorption.layer_axes
    variables = equations.stretched * int(axes.sum()) / len(axes)
    variables += equations.strains * materials.mechanisms
    tables = nodal_tables(equations, materials) / n**AXES + absorption.tables
    tables += _rock_words(rock) / SCHEME.stages
    words = (4 - 1 / SCHEME.stages) * (1 + variables / fields) + traces + tables / fields
    return float(words * np.dtype(dtype).itemsize)


def _rock_words(rock: YieldingRock | None) -> int:
    """Values of a node that are read in each step where nothing yields."""
    if rock is None:
        return 0
    return STRESSES + (0 if rock.shares_rows else rock.values)


def _files(setup: Setup) -> int:
    """Size of seismograms, the surface's motion, snapshots, final fields, records, bytes."""
    samples = ceil(setup.steps / setup.time_step.stride)
    values = sum(
        len(that_record(quantity.name, setup.survey.receivers)) * len(quantity.components)
        for quantity in RECORDED_QUANTITIES
    )
    seismograms = samples * values * np.dtype(setup.dtype).itemsize
    series = sum(ceil(setup.steps / every) * size for every, size in large_series(setup))
    fields = final_field_bytes(setup.geometry, len(setup.fields))
    whole = setup.recording(ElementDomain.outline(setup.geometry.outline))
    records = whole.file_bytes(setup.case.output.record, setup.steps)
    faults = setup.faults.points * (len(COORDINATES) + len(FIELDS)) * WORD if setup.faults else 0
    size = np.dtype(setup.dtype).itemsize
    maps = map_file_bytes(setup.case.output.intensity, intensity_points(setup), size)
    strains = setup.green.points.basis[..., 0].size if setup.green else 0
    strains *= ceil(setup.steps / setup.strain_stride) * size
    final = fields * setup.case.output.final_fields
    return seismograms + series + final + records + faults + maps + strains


def decompose(setup: Setup, ranks: int) -> DecompositionSummary:
    """Summarise the partition of the elements.

    Raises:
        InputError: there are fewer elements than ranks.
    """
    largest = int(np.diff(setup.partition.starts(ranks)).max())
    memory, traffic = [], np.zeros((ranks, ranks), np.int64)
    for rank in range(ranks):
        elements = setup.partition.elements(ranks, rank)
        memory.append(device_memory(setup, elements))
        for peer, faces in elements.shared.items():
            sent = faces.sends.count * setup.trace.sent_bytes
            traffic[rank, peer] = sent * SCHEME.stages
    updates = largest * setup.unknowns_per_element * SCHEME.stages
    return DecompositionSummary(ranks, (ranks,), (largest,), updates, memory, traffic)
