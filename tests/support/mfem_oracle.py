"""Solves `mfem_problems` with MFEM, and writes what tests compare with to `mfem_values.json`.

MFEM (Anderson et al. 2021, Comput. Math. Appl. 81:42) is needed for this alone, from PyPI as
`mfem`. The numbers in the file are those of MFEM 4.10:

    PYTHONPATH=src:tests/support python tests/support/mfem_oracle.py

The bases have their nodes at Gauss-Lobatto points, which are the quadrature points, too. So both
programs have the same linear system, apart from rounding; MFEM's is solved by factorisation.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mfem.ser as mfem
import numpy as np
from mfem_problems import PROBLEMS, VALUES, Function, Problem, tag_of
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import splu

ENTRIES = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]


class Scalar(mfem.PyCoefficient):
    """A function of x, y and z."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self._function = function

    def EvalValue(self, x: Any) -> float:
        return float(self._function(*x))


class Tensor(mfem.MatrixPyCoefficient):
    """A symmetric matrix from functions of its six entries."""

    def __init__(self, entries: tuple[Function, ...]) -> None:
        super().__init__(3)
        self._entries = entries

    def EvalValue(self, x: Any) -> Any:
        k = np.zeros((3, 3))
        for (a, b), entry in zip(ENTRIES, self._entries, strict=True):
            k[a, b] = k[b, a] = entry(*x)
        return k


class Discretization:
    """MFEM's space on a mesh file, and its matrices; integrals have the nodes as points."""

    def __init__(self, problem: Problem, path: Path) -> None:
        self.problem, n = problem, problem.degree
        self.mesh = mfem.Mesh(str(path), 1, 1, True)
        collection = mfem.H1_FECollection(n, 3, mfem.BasisType.GaussLobatto)
        self.space = mfem.FiniteElementSpace(self.mesh, collection)
        lobatto = mfem.IntegrationRules(0, mfem.Quadrature1D.GaussLobatto)
        self._inside = lobatto.Get(mfem.Geometry.CUBE, 2 * n - 1)
        self._faces = lobatto.Get(mfem.Geometry.SQUARE, 2 * n - 1)
        assert self._inside.GetNPoints() == (n + 1) ** 3
        self._alive = [collection, lobatto]  # MFEM keeps pointers to what Python owns

    def marker(self, side: str) -> Any:
        """MFEM's mark of the faces of a side."""
        tags = mfem.intArray(self.mesh.bdr_attributes.Max())
        tags.Assign(0)
        tags[tag_of(side) - 1] = 1
        self._alive.append(tags)
        return tags

    def conductivity(self) -> Any:
        """k as MFEM takes it."""
        k = self.problem.conductivity
        if isinstance(k, tuple):
            return Tensor(k)
        if callable(k):
            return Scalar(k)
        return mfem.PWConstCoefficient(mfem.Vector([k[name] for name in self.problem.volumes]))

    def operator(self) -> Any:
        """A, with the rows of fixed values."""
        form = mfem.BilinearForm(self.space)
        self._add(
            form.AddDomainIntegrator, mfem.DiffusionIntegrator(self._keep(self.conductivity()))
        )
        if self.problem.screening is not None:
            self._add(
                form.AddDomainIntegrator, mfem.MassIntegrator(self._scalar(self.problem.screening))
            )
        for side, (h, _) in self.problem.robin.items():
            self._on_side(form, side, mfem.BoundaryMassIntegrator(self._scalar(h)))
        return _assembled(form)

    def mass(self) -> Any:
        """The mass matrix, which is diagonal."""
        form = mfem.BilinearForm(self.space)
        self._add(form.AddDomainIntegrator, mfem.MassIntegrator())
        return _assembled(form)

    def load(self) -> Any:
        """The integrals of the source, of fluxes, and of h times the ambient value."""
        form = mfem.LinearForm(self.space)
        self._add(
            form.AddDomainIntegrator, mfem.DomainLFIntegrator(self._scalar(self.problem.source))
        )
        inflows = dict(self.problem.flux)
        for side, (h, ambient) in self.problem.robin.items():
            inflows[side] = lambda *at, h=h, ambient=ambient: h(*at) * ambient(*at)
        for side, inflow in inflows.items():
            self._on_side(form, side, mfem.BoundaryLFIntegrator(self._scalar(inflow)))
        form.Assemble()
        return np.array(form.GetDataArray())

    def prescribed(self) -> tuple[Any, Any]:
        """u on fixed sides, 0 elsewhere; and the numbers of its fixed values."""
        known, fixed = mfem.GridFunction(self.space), []
        known.Assign(0.0)
        for side, value in self.problem.fixed.items():
            dofs = mfem.intArray()
            known.ProjectBdrCoefficient(self._scalar(value), self.marker(side))
            self.space.GetEssentialTrueDofs(self.marker(side), dofs)
            fixed.append(np.array(dofs.ToList(), int))
        return np.array(known.GetDataArray()), np.unique(np.concatenate(fixed))

    def at(self, values: Any, points: Any) -> Any:
        """The polynomials at points, (points, 3)."""
        u = mfem.GridFunction(self.space)
        u.Assign(mfem.Vector(np.ascontiguousarray(values)))
        count, elements, places = self.mesh.FindPoints(points)
        assert count == len(points)
        return [u.GetValue(int(e), place) for e, place in zip(elements, places, strict=True)]

    def _keep(self, thing: Any) -> Any:
        self._alive.append(thing)
        return thing

    def _scalar(self, function: Function) -> Any:
        return self._keep(Scalar(function))

    def _add(self, add: Any, integrator: Any) -> None:
        integrator.SetIntRule(self._inside)
        add(self._keep(integrator))

    def _on_side(self, form: Any, side: str, integrator: Any) -> None:
        integrator.SetIntRule(self._faces)
        form.AddBoundaryIntegrator(self._keep(integrator), self.marker(side))


def _assembled(form: Any) -> Any:
    form.Assemble()
    form.Finalize()
    matrix = form.SpMat()
    data = (matrix.GetDataArray(), matrix.GetJArray(), matrix.GetIArray())
    return csr_matrix(tuple(map(np.array, data)))


def solve(problem: Problem, path: Path) -> dict[str, Any]:
    """u at the problem's points, its norms and its extremes."""
    mesh = Discretization(problem, path)
    a, b = mesh.operator(), mesh.load()
    u, fixed = mesh.prescribed()
    free = np.setdiff1d(np.arange(len(u)), fixed)
    factors = splu(a[free][:, free].tocsc())
    rest = b - a @ u
    u[free] = factors.solve(rest[free])
    u[free] += factors.solve((b - a @ u)[free])  # one step of refinement
    mass = mesh.mass()
    assert abs(mass - mass.multiply(np.eye(mass.shape[0]) > 0)).max() < 1e-14 * mass.max()
    points = problem.points()
    return {
        "points": points.tolist(),
        "values": mesh.at(u, points),
        "l2": float(np.sqrt(u @ (mass @ u))),
        "smallest": float(u.min()),
        "largest": float(u.max()),
    }


def main() -> None:
    """Write the file."""
    with TemporaryDirectory() as folder:
        found = {
            name: solve(problem, problem.write(Path(folder) / "a.msh"))
            for name, problem in PROBLEMS.items()
        }
    VALUES.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
