"""Views of a solution by pyvista, which hides surfaces and lights them better than matplotlib.

Elements become small straight ones before they are cut, because VTK cuts no curved ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.typing import NDArray

from groundswell.arrays import Integers
from groundswell.meshes.hexahedra import AXES, Floats
from groundswell.plotting.style import INK
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable

CELLS, FINEST = 400_000, 8  # small elements, about; along an edge of an element
FIRST_SAFE_VTK = (9, 4)  # from which on rendering without a display does not end the process
SIZE, LINE_WIDTH = (1400, 1200), 4.0  # pixels
WHITE = 255
DIRECTION = (0.42, -0.78, 0.47)  # from the middle to the viewer
LINES_NEARER = 1e-3  # of the domain's size: what lines lie on must not cover them


def can_render() -> bool:
    """Whether a pyvista is installed that renders without a display."""
    try:
        import pyvista
    except Exception:  # also where a library of the system is missing
        return False
    return tuple(pyvista.vtk_version_info[:2]) >= FIRST_SAFE_VTK


def render_outside(
    elements: LagrangeElements, outside: Floats, colours: ScalarMappable
) -> NDArray[np.uint8]:
    """The outside with the edges of elements, as (rows, columns, 3); see `render_clipped`."""
    return _quietly([quads(outside)], [polylines(outside)], elements, colours)


def render_clipped(
    elements: LagrangeElements, outside: Floats, colours: ScalarMappable
) -> NDArray[np.uint8]:
    """The half behind the middle across y, with the edges of elements, as (rows, columns, 3).

    Args:
        outside: lattices of the faces on the outside, with u, (faces, n, n, 4).
    """
    middle = (elements.points.min(axis=0) + elements.points.max(axis=0)) / 2
    plane = {"normal": "y", "origin": middle}
    surfaces = [quads(outside).clip(**plane, invert=False), small_elements(elements).slice(**plane)]
    # The faces of all elements meet the plane in the edges on it.
    edges = lattice_faces(elements).slice(**plane)
    lines = [polylines(outside).clip(**plane, invert=False), edges]
    return _quietly(surfaces, lines, elements, colours)


def _quietly(*given: Any) -> NDArray[np.uint8]:
    """Render without VTK's warning that there is no display."""
    import pyvista

    with pyvista.vtk_verbosity("off"):
        return _render(*given)


def _render(
    surfaces: Sequence[Any],
    lines: Sequence[Any],
    elements: LagrangeElements,
    colours: ScalarMappable,
) -> NDArray[np.uint8]:
    """Surfaces in the colours of u, without light, so that they match the colour bar; and lines."""
    import pyvista

    plotter = pyvista.Plotter(off_screen=True, window_size=SIZE)
    style = {"cmap": colours.cmap, "clim": colours.get_clim(), "show_scalar_bar": False}
    for mesh in (each for each in surfaces if each.n_cells):
        plotter.add_mesh(mesh, scalars="u", **style, lighting=False)
    towards = np.array(DIRECTION) * LINES_NEARER * np.ptp(elements.points, axis=0).max()
    for mesh in (each for each in lines if each.n_cells):
        plotter.add_mesh(mesh.translate(towards), color=INK, line_width=LINE_WIDTH, lighting=False)
    plotter.add_axes(color=INK)
    plotter.enable_parallel_projection()
    plotter.enable_anti_aliasing("ssaa")
    plotter.view_vector(DIRECTION, viewup=(0, 0, 1))
    picture = np.asarray(plotter.screenshot(return_img=True))
    plotter.close()
    return without_margins(picture)


def without_margins(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The part of a picture that is not white."""
    rows, columns = np.nonzero((picture < WHITE).any(axis=2))
    return picture[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]


def small_elements(elements: LagrangeElements) -> Any:
    """Each element as a lattice of small ones with straight edges; u at their corners."""
    import pyvista

    count = int(np.clip((CELLS / len(elements.connectivity)) ** (1 / AXES), 1, FINEST))
    points = lattices(elements, count)
    n = count + 1
    corner = np.arange(n**AXES).reshape(n, n, n)  # along t, s and r
    at = [corner[t : t + count, s : s + count, r : r + count] for t, s, r in CORNERS]
    cells = np.stack([each.ravel() for each in at], axis=1)
    every = (cells + n**AXES * np.arange(len(points))[:, None, None]).reshape(-1, len(CORNERS))
    grid = pyvista.UnstructuredGrid(
        {pyvista.CellType.HEXAHEDRON: every}, points[..., :AXES].reshape(-1, AXES)
    )
    grid["u"] = points[..., AXES].ravel()
    return grid


def lattice_faces(elements: LagrangeElements) -> Any:
    """The six faces of each element as quads."""
    count = int(np.clip(np.sqrt(CELLS / (6 * len(elements.connectivity))), 1, FINEST))
    n = count + 1
    cubes = lattices(elements, count).reshape(-1, n, n, n, AXES + 1)
    ends = [np.take(cubes, end, axis=axis) for axis in (1, 2, 3) for end in (0, -1)]
    return quads(np.concatenate(ends))


def lattices(elements: LagrangeElements, count: int) -> Floats:
    """x, y, z and u at lattices of points in each element, (elements, (count + 1)^3, 4)."""
    n = elements.degree + 1
    known, wanted = (chebvander(np.linspace(-1, 1, m), elements.degree) for m in (n, count + 1))
    matrix = wanted @ np.linalg.inv(known)
    fields = np.column_stack([elements.points, elements.fields["u"]])[elements.connectivity]
    cubes = fields.reshape(len(fields), n, n, n, AXES + 1)
    found = np.einsum("ck,bj,ai,ekjif->ecbaf", matrix, matrix, matrix, cubes, optimize=True)
    return np.asarray(found.reshape(len(fields), -1, AXES + 1))


def quads(faces: Floats) -> Any:
    """Lattices of faces, (faces, n, n, 4), as quads with u."""
    import pyvista

    n = faces.shape[1]
    corner = np.arange(n * n).reshape(n, n)
    around = (corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1])
    cells = np.stack([each.ravel() for each in around], axis=1)
    every = (cells + n * n * np.arange(len(faces))[:, None, None]).reshape(-1, len(around))
    mesh = pyvista.PolyData.from_regular_faces(faces[..., :AXES].reshape(-1, AXES), every)
    mesh["u"] = faces[..., AXES].ravel()
    return mesh


def polylines(faces: Floats) -> Any:
    """The edges of lattices of faces as lines."""
    import pyvista

    f = faces[..., :AXES]
    paths = np.concatenate([f[:, 0], f[:, -1], f[:, :, 0], f[:, :, -1]])
    n = paths.shape[1]
    numbers: Integers = np.arange(paths.size // AXES).reshape(-1, n)
    lines = np.insert(numbers, 0, n, axis=1)
    return pyvista.PolyData(paths.reshape(-1, AXES), lines=lines.ravel())


# Of a hexahedron in VTK's order, along t, s and r.
CORNERS = (
    *((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0)),
    *((1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0)),
)
