"""A solution on elements: the domain from outside and cut open, and the convergence history."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.typing import NDArray

from groundswell.arrays import Integers
from groundswell.meshes.hexahedra import AXES, Floats, face_nodes
from groundswell.plotting.residuals import residuals_picture
from groundswell.plotting.style import INK, headline, picture, title_of
from groundswell.report.pictures import Picture
from groundswell.solvers.poisson.clipped_view import can_render, render_clipped, render_outside
from groundswell.solvers.poisson.film import solution_film, solution_label
from groundswell.solvers.poisson.history_picture import history_picture
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d import Axes3D

_QUADS = 50_000  # of a panel, about
_FINEST = 24  # quads along an edge of an element
_LINES_NEARER = 0.02  # of the domain's size: what lines lie on must not cover them
_VIEW = {"elev": 28, "azim": -62}  # degrees
_ZOOM = 0.87  # leaves room for the labels of axes
_SHORT, _SHORTEST = 0.6, 0.15  # of the longest axis: has few ticks; has one
_MAP = "coolwarm"  # nowhere so dark that lines get lost


def solution_picture(results: str | Path) -> Path:
    """Draw `solution.png`: u on the sides, and on the elements behind the middle across y.

    Args:
        results: folder with `solution.vtkhdf`.

    Raises:
        InputError: the file is damaged.
    """
    results = Path(results)
    elements = LagrangeElements.read(results / "solution.vtkhdf")
    panels = [np.arange(len(elements.connectivity)), *_behind_the_middle(elements)]
    path = results / "solution.png"
    rendered = _rendered(elements)
    with picture(path, 4.6 if len(rendered or panels) > 1 else 6.5) as figure:
        shown: list[Axes] = _show(figure, rendered) or _draw_panels(figure, elements, panels)
        colours, label = _colours(elements.fields["u"]), solution_label(elements.attrs)
        bar = figure.colorbar(colours, ax=shown, aspect=30, pad=0.05, label=label)
        bar.outline.set_visible(False)
        cut = ", and behind the middle across y" if len(shown) > 1 else ""
        size = f"; {_size(elements)}" if rendered else ""
        headline(shown[0], title_of(elements.attrs, "Solution"), f"u on the outside{cut}{size}")
    return path


def _size(elements: LagrangeElements) -> str:
    """The size of the domain, which views without axes do not show."""
    lengths = np.ptp(elements.points, axis=0)
    return "size {:.3g} m x {:.3g} m x {:.3g} m".format(*lengths)


def _rendered(elements: LagrangeElements) -> list[NDArray[np.uint8]]:
    """Views from outside and cut open by pyvista; none if it cannot render here."""
    if not can_render():
        return []
    outside = _faces(elements, np.arange(len(elements.connectivity)))
    given = elements, outside, _colours(elements.fields["u"])
    try:
        return [render_outside(*given), render_clipped(*given)]
    except Exception:  # what a library raises that results do not need; matplotlib draws them, too
        return []


def _show(figure: Figure, rendered: Sequence[NDArray[np.uint8]]) -> list[Axes]:
    """Show views as they are."""
    axes = list(figure.subplots(1, len(rendered), squeeze=False)[0]) if rendered else []
    for each, view in zip(axes, rendered, strict=True):
        each.imshow(view)
        each.set_axis_off()
    return axes


def _draw_panels(
    figure: Figure, elements: LagrangeElements, panels: Sequence[Integers]
) -> list[Axes]:
    style: dict[str, Any] = {"projection": "3d", "proj_type": "ortho"}
    axes = list(figure.subplots(1, len(panels), squeeze=False, subplot_kw=style)[0])
    colours = _colours(elements.fields["u"])
    for each, chosen in zip(axes, panels, strict=True):
        _draw(each, _faces(elements, chosen), colours)
    return axes


def convergence_picture(results: str | Path) -> Path:
    """Draw `convergence.png`: the residual before each iteration.

    Args:
        results: folder with `convergence.csv`.

    Raises:
        InputError: the file is damaged.
    """
    table = Path(results) / "convergence.csv"
    return residuals_picture(
        table, "iteration", {"residual": ["relative"]}, "norm of the residual relative to the first"
    )


def _faces(elements: LagrangeElements, chosen: Integers) -> Floats:
    """Faces that no other chosen element covers: x, y, z and u in lattices, (faces, n, n, 4)."""
    degree = elements.degree
    element, face = _uncovered(elements.connectivity[chosen][:, _corners(degree)])
    nodes = np.stack([face_nodes(degree, f) for f in range(2 * AXES)])[face]
    places = np.take_along_axis(elements.connectivity[chosen[element]], nodes, axis=1)
    count = int(np.clip(np.sqrt(_QUADS / max(len(face), 1)), 1, _FINEST))
    known, wanted = (chebvander(np.linspace(-1, 1, n + 1), degree) for n in (degree, count))
    matrix = wanted @ np.linalg.inv(known)
    fields = np.column_stack([elements.points, elements.fields["u"]])[places]
    square = fields.reshape(len(fields), degree + 1, degree + 1, AXES + 1)
    return np.asarray(np.einsum("aj,bi,fjic->fabc", matrix, matrix, square, optimize=True))


def _uncovered(corners: Integers) -> tuple[Integers, Integers]:
    """Elements with these corners, (elements, 8), and their faces that none of them shares."""
    sides = np.stack([corners[:, face_nodes(1, f)] for f in range(2 * AXES)], axis=1)
    keys = np.sort(sides.reshape(-1, 4), axis=1)
    _, number, times = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    element, face = np.divmod(np.flatnonzero(times[number] == 1), 2 * AXES)
    return element, face


def _corners(degree: int) -> Integers:
    lattice = np.arange((degree + 1) ** AXES).reshape((degree + 1,) * AXES)
    return np.asarray(lattice[::degree, ::degree, ::degree]).ravel()


def _behind_the_middle(elements: LagrangeElements) -> list[Integers]:
    """The elements with a centre of larger y than the domain's; empty if that is all or none."""
    y = elements.points[:, 1]
    centres = y[elements.connectivity[:, _corners(elements.degree)]].mean(axis=1)
    behind = np.flatnonzero(centres > (y.min() + y.max()) / 2)
    return [behind] if 0 < len(behind) < len(centres) else []


def _colours(values: Floats) -> ScalarMappable:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    low, high = float(values.min()), float(values.max())
    return ScalarMappable(
        Normalize(low, high) if high > low else Normalize(low - 1, high + 1), _MAP
    )


def _draw(axes: Axes3D, faces: Floats, colours: ScalarMappable) -> None:
    """Draw faces in the colours of u, and the edges of elements as quads without an area.

    One collection holds both, so that the axes sort them by distance together.
    """
    from matplotlib.colors import to_rgba
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    quads = _around(faces)
    shades = colours.to_rgba(quads[..., AXES].mean(axis=1))
    low, high = (end(faces[..., :AXES], axis=(0, 1, 2)) for end in (np.min, np.max))
    axes.view_init(**_VIEW)
    lines = _edges(_nearer(faces[..., :AXES], float((high - low).max())))
    ink = np.tile(to_rgba(INK), (len(lines), 1))
    rgba = np.concatenate([shades, ink])
    shapes = np.concatenate([quads[..., :AXES], lines])
    axes.add_collection3d(
        Poly3DCollection(shapes, facecolor=rgba, edgecolor=rgba, lw=_line_width(faces))
    )
    axes.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)")
    axes.set(**{f"{name}lim": ends for name, *ends in zip("xyz", low, high, strict=True)})
    axes.set_box_aspect(tuple(high - low), zoom=_ZOOM)
    axes.patch.set_visible(False)  # it would cover labels of the panel before it
    _label(axes, high, high - low)


def _label(axes: Axes3D, high: Floats, size: Floats) -> None:
    """Label the axes, with fewer ticks along short ones: their numbers would cover each other."""
    from matplotlib.ticker import FixedLocator, Locator, MaxNLocator

    axes.tick_params(labelsize=9, pad=0)
    axes.tick_params(axis="z", pad=3)
    is_flat = size[2] < _SHORTEST * size.max()  # matplotlib then puts labels nearer
    pads = {"x": 20 if is_flat else 8, "y": 10 if is_flat else 2, "z": 6}
    for n, name in enumerate("xyz"):
        axis, length = getattr(axes, f"{name}axis"), size[n] / size.max()
        axis.labelpad = pads[name]
        locator: Locator = FixedLocator([high[n]])
        if length > _SHORTEST:
            # The first label along y is where the last one along x would be.
            prune = "upper" if name == "x" else None
            locator = MaxNLocator(4 if length > _SHORT else 2, prune=prune)
        axis.set_major_locator(locator)


def _line_width(faces: Floats) -> float:
    """Line width in points: thinner for more elements, but enough to close gaps between quads."""
    return float(np.clip(20 / np.sqrt(len(faces)), 0.25, 0.9))


def _around(faces: Floats) -> Floats:
    """The corners of each quad in turn, (quads, 4, components)."""
    corners = (faces[:, :-1, :-1], faces[:, :-1, 1:], faces[:, 1:, 1:], faces[:, 1:, :-1])
    return np.stack(corners, axis=3).reshape(-1, 4, faces.shape[-1])


def _nearer(faces: Floats, size: float) -> Floats:
    """Lattices nearer to the viewer than all quads of theirs, which are sorted by their middles.

    Quads of long and slanted elements reach far along the view.

    Args:
        faces: x, y and z in lattices, (faces, n, n, 3).
        size: of the domain, m.
    """
    depth = faces @ _towards_viewer()
    steps = [np.abs(np.diff(depth, axis=axis)).max(axis=(1, 2)) for axis in (1, 2)]
    # From a piece of an edge to the middle of the next quad: a step along it, half a step across.
    reach = np.max(steps, axis=0) + 0.6 * np.min(steps, axis=0)
    shift = np.maximum(_LINES_NEARER * size, reach)
    return np.asarray(faces + shift[:, None, None, None] * _towards_viewer())


def _edges(f: Floats) -> Floats:
    """Pieces of the edges of lattices of faces, there and back, (pieces, 4, 3)."""
    paths = np.concatenate([f[:, 0], f[:, -1], f[:, :, 0], f[:, :, -1]])
    start, end = (paths[:, n].reshape(-1, AXES) for n in (slice(-1), slice(1, None)))
    return np.stack([start, end, end, start], axis=1)


def _towards_viewer() -> Floats:
    up, round_ = np.radians(_VIEW["elev"]), np.radians(_VIEW["azim"])
    flat = np.cos(up)
    return np.array([flat * np.cos(round_), flat * np.sin(round_), np.sin(up)])


PICTURES = [
    Picture(
        "solution.vtkhdf",
        "solution.png",
        "The solution from outside, and cut open",
        solution_picture,
    ),
    Picture("film.nc", "film.mp4", "The middle plane over time", solution_film, is_film=True),
    Picture("convergence.csv", "convergence.png", "Residuals by iteration", convergence_picture),
    Picture(
        "history.csv", "history.png", "The range of u by time, and iterations", history_picture
    ),
]
