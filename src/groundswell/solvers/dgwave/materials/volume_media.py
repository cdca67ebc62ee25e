"""The media of a mesh's physical volumes, at positions in elements and averaged over elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats, Integers, Mask
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, refine, tangents
from groundswell.meshes.mesh import Mesh
from groundswell.seismology.media.material import Material, SampledMedium, volume_average
from groundswell.solvers.dgwave.materials.averages import KeptAverages
from groundswell.solvers.dgwave.materials.properties import INWARDS, SAMPLES
from groundswell.spectral_elements.surface_location import top_faces

QUADRATURE = 4  # degree of the quadrature that averages media over elements


@dataclass(frozen=True, eq=False)
class VolumeMedia:
    """The media of a mesh as functions of x, y and depth.

    The depth is z. Positions above z = 0 have depth 0.

    Args:
        mesh: the elements; z points down.
        numbers: medium of each element, (elements,).
        media: the media.
        is_uniform: whether each medium has one material.
        names: the properties that averages of elements have.
        material_names: names of the media, if they have names.
    """

    mesh: Mesh
    numbers: Integers
    media: Sequence[SampledMedium]
    is_uniform: Sequence[bool]
    names: Sequence[str]
    material_names: Sequence[str] = ()

    @property
    def varies(self) -> bool:
        """Whether the medium may vary inside elements."""
        return not all(self.is_uniform)

    @cached_property
    def has_dry_surface(self) -> bool:
        """Whether there is a surface that no water reaches."""
        elements, _ = top_faces(self.mesh)
        return len(elements) > 0 and bool(np.all(self.average(elements).vs > 0))

    def average(self, elements: Integers) -> Material:
        """See `ElementMedium`; quality factors that a medium lacks are infinite."""
        given, none = self.averages.at(elements).given(), np.full(len(elements), np.inf)
        return Material(**{name: given.get(name, none) for name in self.names})

    def is_solid(self, elements: Integers, places: Floats) -> Mask:
        """Whether the medium is solid at positions in elements, (elements, places)."""
        return np.asarray(self.sample(elements, places).vs > 0)

    @cached_property
    def properties(self) -> list[str]:
        """The names of the properties that all media have."""
        surface = np.zeros((1, AXES))
        found = [medium.sample(surface).given() for medium in self.media]
        return [name for name in found[0] if all(name in given for given in found)]

    def sample(self, elements: Integers, places: Floats) -> Material:
        """The material at positions in elements, arrays (elements, places).

        The bits do not depend on the other elements.

        Args:
            places: reference coordinates, (elements or 1, places, 3). They are moved inwards, so
                that positions on an interface have the material of the element.
        """
        points = _positions(self.mesh, elements, (1 - INWARDS) * places)
        points[..., 2] = np.maximum(points[..., 2], 0.0)
        found = {name: np.empty(points.shape[:2]) for name in self.properties}
        for number, medium in enumerate(self.media):
            chosen = np.flatnonzero(self.numbers[elements] == number)
            if chosen.size:
                material = medium.sample(points[chosen].reshape(-1, AXES))
                for name, values in found.items():
                    values[chosen] = getattr(material, name).reshape(len(chosen), -1)
        return Material(**found)

    @cached_property
    def averages(self) -> KeptAverages:
        """Volume averages over elements, with all properties."""
        return KeptAverages(self.mesh.count, self.properties, self._read)

    def _read(self, elements: Integers) -> Material:
        found = {name: np.empty(len(elements)) for name in self.properties}
        uniform = np.asarray(self.is_uniform)[self.numbers[elements]]
        step = SAMPLES // (QUADRATURE + 1) ** AXES
        for kind, average in ((uniform, self._in_middle), (~uniform, self._average)):
            chosen = np.flatnonzero(kind)
            for part in np.split(chosen, range(step, len(chosen), step)):
                for name, values in average(elements[part]).given().items():
                    found[name][part] = values
        return Material(**found)

    def _in_middle(self, elements: Integers) -> Material:
        given = self.sample(elements, np.zeros((1, 1, AXES))).given()
        return Material(**{name: values[:, 0] for name, values in given.items()})

    def _average(self, elements: Integers) -> Material:
        """See `volume_average`; exact in elements with one material."""
        line = gll(QUADRATURE).points
        t, s, r = np.meshgrid(line, line, line, indexing="ij")
        samples = self.sample(elements, np.stack([r, s, t], axis=-1).reshape(1, -1, AXES))
        weights = self._weights(elements)
        average = volume_average(samples, lambda values: (values * weights).sum(axis=1)).given()
        given = samples.given()
        same = np.all([(v == v[:, :1]).all(axis=1) for v in given.values()], axis=0)
        return Material(**{n: np.where(same, v[:, 0], average[n]) for n, v in given.items()})

    def _weights(self, elements: Integers) -> Floats:
        """Fractions of the elements' volumes, (elements, nodes)."""
        nodes = refine(self.mesh.nodes[elements], self.mesh.order, QUADRATURE)
        r, s, t = tangents(nodes, QUADRATURE)
        volumes = np.einsum("enx,enx->en", r, np.cross(s, t)) * gll(QUADRATURE).cube_weights
        return np.asarray(volumes / volumes.sum(axis=1, keepdims=True))


def _positions(mesh: Mesh, elements: Integers, places: Floats) -> Floats:
    """Positions of places in elements, (elements, places, 3), m; see `VolumeMedia.sample`."""
    shape, basis = places.shape[:2], gll(mesh.order)
    r, s, t = (basis.interpolation(along.ravel()) for along in np.moveaxis(places, -1, 0))
    shares = t[:, :, None, None] * s[:, None, :, None] * r[:, None, None, :]
    shares = shares.reshape(*shape, -1)
    found = np.zeros((len(elements), shape[1], AXES))
    for node, at in enumerate(np.moveaxis(mesh.nodes[elements], 1, 0)):
        found += shares[..., node, None] * at[:, None]
    return found
