"""The source of kernels on elements: a header of kernels/ with the constants of a problem."""

from __future__ import annotations

from groundswell.backends import Constant, Source
from groundswell.backends.source import precision
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.equations import KERNELS
from groundswell.solvers.dgwave.kernel_shapes import KernelShape
from groundswell.spectral_elements.element_kernels import (
    half_constants,
    reference_element_constants,
)
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME


def kernel_source(
    file: str, problem: Discretisation, shape: KernelShape | None = None, absorbing: bool = False
) -> Source:
    """The kernels of a stage ("advance.h"), of mortars ("mortars.h") or of faults ("fault.h").

    Args:
        shape: of the blocks of threads; None for kernels of single points.
        absorbing: whether they advance elements in layers and sponges.
    """
    degree = problem.degree
    constants: dict[str, Constant] = {
        **precision(problem.dtype),
        **reference_element_constants(degree),
        **(shape.constants(degree) if shape else {}),
        **problem.equations.constants(problem.has_whole_jumps, problem.is_curved),
        "GIVEN_JUMPS": problem.has_mortars or problem.has_faults,
        "CURVED": problem.is_curved,
        "NODAL": problem.is_nodal,
        **half_constants(degree),
        "STAGES": SCHEME.stages,
        "SOURCES": problem.terms.has_sources,
        "DAMPING": absorbing and problem.terms.has_damping,
        "MECHANISMS": problem.mechanisms,
        "MATCHED": absorbing and problem.layers is not None,
        "LIFT": degree * (degree + 1) / 2,  # 1 / the weight of a node at the end of a line
    }
    return Source(KERNELS / file, constants)
