"""Arithmetic and memory traffic of the paper's kernels, counted as that of the solver's own."""

from __future__ import annotations

from groundswell.solvers.dgwave.benchmarks.traffic import (
    ADDRESS,
    AGAIN,
    FACES,
    RATES,
    Element,
    KernelCost,
    face_values,
    jump_flops,
    material_values,
    volume_flops,
)

NUMBER, KIND = 4, 1  # size of table entries, bytes


def surface_of(element: Element) -> int:
    """Number of nodes on faces; each counts once."""
    return (element.degree + 1) ** 3 - max(element.degree - 1, 0) ** 3


def _flux_flops(element: Element) -> int:
    """Operations for the flux at all faces, added as rates to the contributions."""
    more = RATES[element.configuration.equations] + element.fields
    return jump_flops(element) + element.face_nodes * more


def volume(element: Element) -> KernelCost:
    """Reads the fields, and writes the contributions."""
    return element.cost(volume_flops(element), 2 * element.unknowns + material_values(element))


def flux(element: Element) -> KernelCost:
    """Reads both sides of all faces; reads and writes the contributions on the surface."""
    values = 2 * element.traces + 2 * element.fields * surface_of(element)
    tables = material_values(element) + face_values(element)
    return element.cost(_flux_flops(element), values + tables, ADDRESS)  # the key of the element


def volume_and_flux(element: Element) -> KernelCost:
    """Reads the fields and the other side of all faces, and writes the contributions."""
    values = 2 * element.unknowns + element.traces + material_values(element) + face_values(element)
    flops = volume_flops(element) + _flux_flops(element)
    return element.cost(flops, values, FACES * (NUMBER + KIND))


def integrate(element: Element) -> KernelCost:
    """Reads the contributions; reads and writes register and fields."""
    n = element.unknowns
    return element.cost((2 + 2 * AGAIN) * n, (4 + AGAIN) * n)
