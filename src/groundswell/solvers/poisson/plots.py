"""A solution on elements: the domain from outside and cut open, and how the iteration went."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.meshes.hexahedra import AXES, Floats, Numbers, face_nodes
from groundswell.plotting.style import ACCENT, INK, headline, picture, title_of
from groundswell.report.pictures import Picture
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

_QUADS = 50_000  # of a panel, about
_FINEST = 32  # quads along an edge of an element
_LAYERS = 64  # of depth, drawn from far to near
_LIFTED = 2  # layers that lines come nearer: what they lie on must not cover them
_TOWARDS = np.array([0.8, -1.5, 0.9])  # the viewer
_ARROW = 34  # points
_DOTTED = 60  # iterations that can be told apart
_MAP = "coolwarm"  # nowhere so dark that lines get lost
_LINES = {"color": INK, "alpha": 0.55}


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
    with picture(path, 4.6 if len(panels) > 1 else 6.5) as figure:
        shown = figure.subplots(1, len(panels), squeeze=False)[0]
        colours = _colours(elements.fields["u"])
        for axes, chosen in zip(shown, panels, strict=True):
            _draw(axes, _Surface.of(elements, chosen), colours)
        _show_directions(shown[0])
        _bar(figure, shown, colours)
        cut = ", and behind the middle across y" if len(panels) > 1 else ""
        headline(shown[0], title_of(elements.attrs, "Solution"), f"u on the outside{cut}")
    return path


def convergence_picture(results: str | Path) -> Path:
    """Draw `convergence.png`: the residual before each iteration.

    Args:
        results: folder with `convergence.csv`.

    Raises:
        InputError: the file is damaged.
    """
    results = Path(results)
    table = _read_table(results / "convergence.csv")
    path = results / "convergence.png"
    with picture(path, 4.5) as figure:
        axes = figure.add_subplot()
        seen = table["relative"] > 0
        dots = "." if len(table) <= _DOTTED else ""
        axes.semilogy(table["iteration"][seen], table["relative"][seen], color=ACCENT, marker=dots)
        axes.set(xlabel="iteration", ylabel="residual over the first")
        axes.grid(color="#e4e7eb", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        count = int(table["iteration"][-1])
        headline(axes, "How the iteration converged", f"Norm of the residual, {count} iterations")
    return path


def _read_table(path: Path) -> NDArray[Any]:
    try:
        table = np.atleast_1d(np.genfromtxt(path, delimiter=",", names=True))
        return table[["iteration", "relative"]]
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise InputError(f"{path} is damaged ({error}); run the case again") from error


# --- what is seen ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Surface:
    """Faces of elements that no other element covers, in points as far apart as the picture needs.

    Args:
        points: (faces, n, n, 3).
        values: (faces, n, n).
        outward: 1 where the first axis, then the second, turn left as seen from outside, else -1.
    """

    points: Floats
    values: Floats
    outward: Floats

    @classmethod
    def of(cls, elements: LagrangeElements, chosen: Numbers) -> _Surface:
        """Of some of the elements."""
        degree = elements.degree
        element, face = _uncovered(elements.connectivity[chosen][:, _corners(degree)])
        nodes = np.stack([face_nodes(degree, f) for f in range(2 * AXES)])[face]
        places = np.take_along_axis(elements.connectivity[chosen[element]], nodes, axis=1)
        count = int(np.clip(np.sqrt(_QUADS / max(len(face), 1)), 1, _FINEST))
        fields = np.column_stack([elements.points, elements.fields["u"]])
        fine = _between(fields[places], degree, count)
        outward = np.where(face % 2, 1.0, -1.0) * np.where(face // 2 == 1, -1.0, 1.0)
        return cls(fine[..., :AXES], fine[..., AXES], outward)

    @cached_property
    def flat(self) -> Floats:
        """Where points are in the picture, and how near they are, (faces, n, n, 3)."""
        return np.asarray(self.points @ _view())

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """Which quads face the viewer, (faces, n - 1, n - 1)."""
        found = _around(self.flat)
        first, second = found[..., 2, :] - found[..., 0, :], found[..., 3, :] - found[..., 1, :]
        area = first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
        return area * self.outward[:, None, None] > 0

    @property
    def quads(self) -> tuple[Floats, Floats]:
        """Those that face the viewer, (quads, 4, 3), and their values, (quads,)."""
        return _around(self.flat)[self.seen], _around(self.values).mean(axis=-1)[self.seen]

    @property
    def lines(self) -> Floats:
        """Pieces of the edges of faces that face the viewer, (pieces, 2, 3)."""
        shown = self.flat[self.seen.any(axis=(1, 2))]
        paths = np.concatenate([shown[:, 0], shown[:, -1], shown[:, :, 0], shown[:, :, -1]])
        return np.stack([paths[:, :-1], paths[:, 1:]], axis=2).reshape(-1, 2, AXES)


def _view() -> Floats:
    """Of x, y and z what goes to the right, up, and towards the viewer, (3, 3)."""
    near = _TOWARDS / np.linalg.norm(_TOWARDS)
    right = np.cross([0.0, 0.0, 1.0], near)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(near, right), near], axis=1)


def _uncovered(corners: Numbers) -> tuple[Numbers, Numbers]:
    """Elements with these corners, (elements, 8), and their faces that none of them shares."""
    sides = np.stack([corners[:, face_nodes(1, f)] for f in range(2 * AXES)], axis=1)
    keys = np.sort(sides.reshape(-1, 4), axis=1)
    _, number, times = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    element, face = np.divmod(np.flatnonzero(times[number] == 1), 2 * AXES)
    return element, face


def _corners(degree: int) -> Numbers:
    lattice = np.arange((degree + 1) ** AXES).reshape((degree + 1,) * AXES)
    return np.asarray(lattice[::degree, ::degree, ::degree]).ravel()


def _between(values: Floats, degree: int, count: int) -> Floats:
    """Values (faces, (degree + 1)^2, components) at (count + 1)^2 points of each face."""
    known, wanted = (chebvander(np.linspace(-1, 1, n + 1), degree) for n in (degree, count))
    matrix, n = wanted @ np.linalg.inv(known), degree + 1
    square = values.reshape(len(values), n, n, -1)
    return np.asarray(np.einsum("aj,bi,fjic->fabc", matrix, matrix, square, optimize=True))


def _around(grid: Floats) -> Floats:
    """The corners of each quad in turn: along the second axis of points first, then the first."""
    corners = (grid[:, :-1, :-1], grid[:, :-1, 1:], grid[:, 1:, 1:], grid[:, 1:, :-1])
    return np.stack(corners, axis=3)


def _behind_the_middle(elements: LagrangeElements) -> list[Numbers]:
    """The elements with a centre of larger y than the domain's; nothing if that is all or none."""
    y = elements.points[:, 1]
    centres = y[elements.connectivity[:, _corners(elements.degree)]].mean(axis=1)
    behind = np.flatnonzero(centres > (y.min() + y.max()) / 2)
    return [behind] if 0 < len(behind) < len(centres) else []


# --- drawing --------------------------------------------------------------------------------------


def _colours(values: Floats) -> Normalize:
    from matplotlib.colors import Normalize

    low, high = float(values.min()), float(values.max())
    return Normalize(low, high) if high > low else Normalize(low - 1, high + 1)


def _draw(axes: Axes, surface: _Surface, colours: Normalize) -> None:
    """From far to near, so that what is near covers what is far."""
    from matplotlib.collections import LineCollection, PolyCollection

    (quads, values), lines = surface.quads, surface.lines
    depths = quads[..., 2].mean(axis=1)
    edges = np.linspace(depths.min(), depths.max(), _LAYERS + 1)[1:-1]
    of_quads = np.digitize(depths, edges)
    of_lines = np.digitize(lines[..., 2].mean(axis=1), edges) + _LIFTED
    shade: dict[str, Any] = {"cmap": _MAP, "norm": colours, "antialiased": False}
    width = float(np.clip(30 / np.sqrt(len(surface.values)), 0.15, 0.9))
    for layer in range(_LAYERS + _LIFTED):
        here = np.flatnonzero(of_quads == layer)
        here = here[np.argsort(depths[here])]
        polygons = PolyCollection([*quads[here][..., :2]], edgecolor="face", lw=0.4, **shade)
        polygons.set(array=values[here], zorder=layer)
        pieces = lines[of_lines == layer][..., :2]
        axes.add_collection(polygons)
        axes.add_collection(LineCollection(pieces, lw=width, zorder=layer, **_LINES))
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.set_axis_off()


def _show_directions(axes: Axes) -> None:
    """Arrows along x, y and z in the lower left corner."""
    at: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    centred: dict[str, Any] = {"ha": "center", "va": "center"}
    style = {"arrowstyle": "<|-", "color": INK, "lw": 1.0, "shrinkA": 4, "shrinkB": 0}
    for name, (right, up, _) in zip("xyz", _view(), strict=True):
        place = (_ARROW * right, _ARROW * up)
        label = axes.annotate(name, (0, 0.06), place, arrowprops=style, **at, **centred)
        label.set_in_layout(False)


def _bar(figure: Any, shown: Any, colours: Normalize) -> None:
    from matplotlib.cm import ScalarMappable

    bar = figure.colorbar(ScalarMappable(colours, _MAP), ax=list(shown), aspect=30, pad=0.02)
    bar.set_label("u")
    bar.outline.set_visible(False)


PICTURES = [
    Picture(
        "solution.vtkhdf",
        "solution.png",
        "The solution from outside, and cut open",
        solution_picture,
    ),
    Picture("convergence.csv", "convergence.png", "Residuals by iteration", convergence_picture),
]
