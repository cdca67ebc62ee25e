"""What a run costs: memory, traffic and the size of its results."""

from __future__ import annotations

from math import ceil

import numpy as np

from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.formats.seismograms import QUANTITIES
from groundswell.seismology.receivers import that_record
from groundswell.simulation.solver import Cost, DecompositionSummary
from groundswell.solvers.dgwave.memory import device_memory, nodal_tables
from groundswell.solvers.dgwave.recording.lattice import surface_bytes
from groundswell.solvers.dgwave.recording.volumes import final_field_bytes, volume_bytes
from groundswell.solvers.dgwave.setup import Setup
from groundswell.spectral_elements.recording import ElementDomain
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME


def estimate(setup: Setup) -> Cost:
    """The cost on one rank; an update is a stage of an unknown."""
    memory = device_memory(setup, setup.partition.elements(1, 0))
    return Cost(setup.unknowns * SCHEME.stages, bytes_per_update(setup), memory, _files(setup))


def bytes_per_update(setup: Setup) -> float:
    """Minimum memory traffic per unknown and stage, bytes.

    Each stage reads and writes the fields and the register, except that the first stage does not
    read the register. It reads and writes the traces of six faces. It also reads the metric terms
    of elements that are not bricks, and materials that vary inside elements. Memory variables add
    to the traffic, but not to the unknowns.
    """
    n, fields = setup.degree + 1, len(setup.equations.fields)
    traces = 2 * 2 * AXES * setup.equations.trace / (fields * n)
    values = 1 + _memory_variables(setup) / fields
    tables = nodal_tables(setup) / n**AXES + setup.absorption.tables
    words = (4 - 1 / SCHEME.stages) * values + traces + tables / fields
    return float(words * np.dtype(setup.dtype).itemsize)


def _memory_variables(setup: Setup) -> float:
    """Memory variables of attenuation and layers per node, averaged over all elements."""
    sets = int(setup.absorption.layer_axes.sum())
    of_layers = setup.equations.stretched * sets / setup.geometry.count
    return of_layers + setup.equations.strains * setup.materials.mechanisms


def _files(setup: Setup) -> int:
    """Size of seismograms, the surface's motion, snapshots, final fields, records, bytes."""
    samples = ceil(setup.steps / setup.time_step.stride)
    values = sum(
        len(that_record(quantity.name, setup.survey.receivers)) * len(quantity.components)
        for quantity in QUANTITIES.values()
    )
    seismograms = samples * values * np.dtype(setup.dtype).itemsize
    fields = volume_bytes(setup) + final_field_bytes(setup)
    whole = setup.recording(ElementDomain.outline(setup.geometry.outline))
    records = whole.file_bytes(setup.case.output.record, setup.steps)
    return seismograms + surface_bytes(setup) + fields + records


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
