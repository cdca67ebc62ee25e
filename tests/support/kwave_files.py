"""Input files of k-Wave for tests, written from a description in plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from kspace_scheme import KSpaceScheme
from numpy.typing import NDArray

from groundswell.solvers.ultrasound.absorption import eta, nepers, tau

MODES = {"dirichlet": 0, "uncorrected": 1, "additive": 2}
HEADER = {
    "file_type": "input",
    "major_version": "1",
    "minor_version": "2",
    "created_by": "a test",
    "creation_date": "today",
    "file_description": "a test",
}


@dataclass
class Example:
    """A simulation; properties are numbers or arrays (nz, ny, nx).

    `sources` are (field, points, signals (samples,) or (samples, points), mode), points from 0;
    those of one family share points and mode. `cuboids` are (x1, y1, z1, x2, y2, z2), from 1.
    """

    shape: tuple[int, int, int]
    speed: Any = 1500.0
    density: Any = 1000.0
    steps: int = 12
    absorbing: int = 0
    alpha: Any = 0.75
    power: float = 1.5
    nonlinearity: Any = None
    pml: tuple[int, int, int] = (3, 2, 2)
    pml_alpha: tuple[float, float, float] = (2.0, 1.5, 1.7)
    sources: list[tuple[str, NDArray[Any], NDArray[Any], str]] = field(default_factory=list)
    transducer: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None = None
    p0: NDArray[Any] | None = None
    points: NDArray[Any] | None = None
    cuboids: list[tuple[int, ...]] = field(default_factory=list)

    spacing = (1e-3, 0.8e-3, 1.1e-3)
    dt, reference_speed = 1e-7, 1700.0

    @property
    def axes(self) -> str:
        return "xyz" if self.shape[0] > 1 else "xy"

    def datasets(self) -> dict[str, NDArray[Any]]:
        """All datasets, in their types."""
        found: dict[str, Any] = {
            **{f"N{axis}": n for axis, n in zip("xyz", self.shape[::-1], strict=True)},
            "Nt": self.steps,
            "dt": np.float32(self.dt),
            "c_ref": np.float32(self.reference_speed),
            "c0": single(self.speed),
            "rho0": single(self.density),
            "nonuniform_grid_flag": 0,
            "axisymmetric_flag": 0,
            "nonlinear_flag": int(self.nonlinearity is not None),
            "absorbing_flag": self.absorbing,
            "p0_source_flag": int(self.p0 is not None),
            "p_source_flag": 0,
            "ux_source_flag": 0,
            "uy_source_flag": 0,
            "uz_source_flag": 0,
            "transducer_source_flag": 0,
        }
        scheme = self.scheme()
        for n, axis in enumerate(self.axes):
            uniform = np.ndim(self.density) == 0
            staggered = self.density if uniform else scheme.staggered(n)
            found |= {
                f"d{axis}": np.float32(self.spacing[n]),
                f"pml_{axis}_size": self.pml[n],
                f"pml_{axis}_alpha": np.float32(self.pml_alpha[n]),
                f"rho0_sg{axis}": single(staggered),
            }
        found |= self._medium() | self._sources() | self._sensors()
        return {name: as_dataset(values) for name, values in found.items()}

    def _medium(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.absorbing:
            found |= {"alpha_coeff": single(self.alpha), "alpha_power": np.float32(self.power)}
        if self.nonlinearity is not None:
            found["BonA"] = single(self.nonlinearity)
        if self.p0 is not None:
            found["p0_source_input"] = single(self.p0)
        return found

    def _sources(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, points, signals, mode in self.sources:
            kind = name[0]
            found |= {
                f"{name}_source_flag": len(signals),
                f"{kind}_source_mode": MODES[mode],
                f"{kind}_source_many": int(np.ndim(signals) == 2),
                f"{kind}_source_index": points + 1,
                f"{name}_source_input": single(signals).reshape(1, len(signals), -1),
            }
        if self.transducer is not None:
            points, delays, signal = self.transducer
            found |= {
                "transducer_source_flag": len(signal),
                "u_source_index": points + 1,
                "delay_mask": delays + 1,
                "transducer_source_input": single(signal),
            }
        return found

    def _sensors(self) -> dict[str, Any]:
        if self.cuboids:
            corners = np.array(self.cuboids)[None]
            return {"sensor_mask_type": 1, "sensor_mask_corners": corners}
        points = np.array([0]) if self.points is None else self.points
        return {"sensor_mask_type": 0, "sensor_mask_index": points + 1}

    def write(self, path: Path, changes: Mapping[str, Any] | None = None) -> Path:
        """Write the file; `changes` replace datasets, or remove them if None."""
        write_datasets(path, {**self.datasets(), **(changes or {})})
        return path

    def scheme(self) -> KSpaceScheme:
        """The same simulation in NumPy."""
        coefficient = nepers(rounded(self.alpha), self.exponent) if self.absorbing else 0.0
        speed = rounded(self.speed)
        wave = KSpaceScheme(
            self.shape,
            self.spacing,
            float(np.float32(self.dt)),
            self.reference_speed,
            speed,
            rounded(self.density),
            self.pml,
            tau=tau(coefficient, speed, self.exponent),
            eta=eta(coefficient, speed, self.exponent) if self.exponent != 2 else 0.0,
            power=self.exponent,
            nonlinearity=0.0 if self.nonlinearity is None else np.maximum(self.nonlinearity, 1e-30),
            sources=[*self.sources, *self._transducer_source()],
        )
        layer = wave.layer

        def layer_of_axis(axis: int, half: float) -> NDArray[np.float64]:
            wave.strength = self.pml_alpha[axis]
            return layer(axis, half)

        wave.layer = layer_of_axis  # type: ignore[method-assign]
        return wave

    @property
    def exponent(self) -> float:
        return self.power if self.absorbing == 1 else 2.0

    def _transducer_source(self) -> list[Any]:
        """The signal of each point, shifted by its delay and followed by zeros."""
        if self.transducer is None:
            return []
        points, delays, signal = self.transducer
        longer = np.concatenate([signal, np.zeros(len(signal))])
        signals = np.stack([longer[delay : delay + len(signal)] for delay in delays], 1)
        return [("ux", points, signals, "uncorrected")]


def single(values: Any) -> NDArray[np.float32]:
    return np.asarray(values, np.float32)


def rounded(values: Any) -> Any:
    """Values as the file holds them, in double precision."""
    found = np.asarray(np.asarray(values, np.float32), np.float64)
    return found if found.ndim else float(found)


def as_dataset(values: Any) -> NDArray[Any]:
    """Values with three axes, in one of the file's types."""
    array = np.asarray(values)
    array = array.astype("<f4" if array.dtype.kind == "f" else "<u8")
    return array if array.ndim == 3 else array.reshape(1, 1, -1)


def write_datasets(path: Path, datasets: Mapping[str, Any]) -> None:
    """Write datasets that are not None, with their attributes."""
    with h5py.File(path, "w") as file:
        for name, value in HEADER.items():
            file.attrs[name] = np.bytes_(value)
        for name, values in datasets.items():
            if values is not None:
                write_dataset(file, name, as_dataset(values))


def write_dataset(file: h5py.File, name: str, values: NDArray[Any]) -> None:
    dataset = file.create_dataset(name, data=values)
    dataset.attrs["data_type"] = np.bytes_("float" if values.dtype.kind == "f" else "long")
    dataset.attrs["domain_type"] = np.bytes_("real")


@dataclass
class Reference:
    """Fields of all steps by NumPy: p and u (steps, nz, ny, nx), and centred velocities."""

    fields: dict[str, NDArray[np.float64]]

    @classmethod
    def of(cls, example: Example) -> Reference:
        wave, axes = example.scheme(), example.axes
        fields: dict[str, list[Any]] = {name: [] for name in ["p", *(f"u{a}" for a in axes)]}
        fields |= {f"u{a}_non_staggered": [] for a in axes}
        for step in range(example.steps):
            if step == 0 and example.p0 is not None:
                wave.start(example.p0)
                wave.done = 1
            else:
                wave.step()
            fields["p"].append(wave.p.copy())
            for n, axis in enumerate(axes):
                fields[f"u{axis}"].append(wave.u[n].copy())
                fields[f"u{axis}_non_staggered"].append(centred(wave, n))
        return cls({name: np.array(values) for name, values in fields.items()})


def centred(wave: KSpaceScheme, axis: int) -> NDArray[np.float64]:
    """A velocity shifted half a cell back, by a transform along its axis."""
    dim, n, d = 2 - axis, wave.shape[2 - axis], wave.d[axis]
    k = 2 * np.pi * np.fft.rfftfreq(n, d)
    shape = [-1 if other == dim else 1 for other in range(3)]
    spectrum = np.fft.rfft(wave.u[axis], axis=dim) * np.exp(-0.5j * k * d).reshape(shape)
    return np.fft.irfft(spectrum, n, axis=dim)
