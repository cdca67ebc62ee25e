"""Bytes of a cell: in the fields of a solver, and moved by its updates."""

from __future__ import annotations

from groundswell.seismology.case.plasticity import DruckerPragerSection
from groundswell.seismology.case.soil import IwanSection
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.plasticity.tiles import TILE

STATE = 9  # velocities and stresses
MEMORY = 6  # memory variables
CLASS = 2  # bytes

# Compulsory memory traffic of an update, in words: each input is read once, each output written
# once. Velocity: reads 6 stresses and 3 velocities, writes 3 velocities. Stress: reads 3 velocities
# and 6 stresses, writes 6 stresses.
VELOCITY_WORDS, STRESS_WORDS = 12, 15
# Rock that does not yield reads 6 stresses once more; it has fields of what it loses and of strain.
YIELD_WORDS, YIELD_FIELDS = 6, 2
# Elements of soft soil have 5 stresses, and so has linear rock there. Cells read those of elements
# that have yielded before and write the part of each that is lost, which edges read. What yields
# is also read by edges and written, which we do not count. Besides, stresses of linear rock are
# updated (3 of 5 are read twice), cells and edges read velocities and modulus, cells the reference
# strain and counts, and what is lost is written and read.
SOIL_STRESSES, SOIL_ELEMENT_MOVED, SOIL_LOST, SOIL_WORDS = 5, 7, 5, 13 + 8 + 2 + 10


def field_bytes(case: EarthquakeCase) -> int:
    """Bytes of all fields in a cell."""
    materials = CLASS if in_classes(case) else (5 if is_lossy(case) else 3) * word(case)
    yielding = YIELD_FIELDS * word(case) + CLASS if has_yielding_rock(case) else 0
    if isinstance(case.plasticity, IwanSection):
        yielding = word(case)  # plastic strain; the rest is in the soil only
    return STATE * word(case) + MEMORY * memory_bytes(case) + materials + yielding


def velocity_bytes(case: EarthquakeCase) -> int:
    """Bytes of a point that the update of velocities moves; it also reads the density."""
    return VELOCITY_WORDS * word(case) + (CLASS if in_classes(case) else word(case))


def stress_bytes(case: EarthquakeCase) -> int:
    """Bytes of a point that the update of stresses moves.

    It also reads 2 moduli, with Q 2 quality factors, and reads and writes memory variables.
    """
    materials = CLASS if in_classes(case) else (4 if is_lossy(case) else 2) * word(case)
    return STRESS_WORDS * word(case) + 2 * MEMORY * memory_bytes(case) + materials


def yield_bytes(case: EarthquakeCase) -> float:
    """Bytes of a point that the search for rock that yields moves where it finds none.

    On a CPU, two more are a class if the strength does not only vary with depth. A GPU reads
    stresses only where they are large enough; elsewhere 16 bytes for each tile of cells.
    """
    if not has_yielding_rock(case):
        return 0.0
    return YIELD_WORDS * word(case) if case.run.backend == "cpu" else 16 / TILE


def soil_cell_bytes(section: IwanSection, case: EarthquakeCase) -> int:
    """Bytes of a cell of soft soil: stresses, reference strain and counts."""
    return (SOIL_STRESSES * (section.surfaces + 1) + 1) * word(case) + CLASS


def soil_bytes_moved(section: IwanSection, case: EarthquakeCase) -> int:
    """Bytes of a cell of soft soil that its yield moves."""
    return (SOIL_ELEMENT_MOVED * section.surfaces + SOIL_WORDS) * word(case)


def has_yielding_rock(case: EarthquakeCase) -> bool:
    """Whether rock yields, not soil alone."""
    return isinstance(case.plasticity, DruckerPragerSection)


def word(case: EarthquakeCase) -> int:
    """Bytes of a number in the precision of the run."""
    return 8 if case.run.precision == "double" else 4


def memory_bytes(case: EarthquakeCase) -> int:
    """Bytes of a memory variable; 0 without attenuation."""
    return (2 if case.run.memory == "half" else word(case)) if is_lossy(case) else 0


def is_lossy(case: EarthquakeCase) -> bool:
    """Whether the case has attenuation."""
    return case.attenuation.model != "none"


def in_classes(case: EarthquakeCase) -> bool:
    """Whether materials are stored as classes."""
    return case.run.materials == "classes"
