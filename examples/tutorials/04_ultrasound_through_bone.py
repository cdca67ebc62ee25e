"""
Ultrasound through bone, from k-Wave's file and from a case
===========================================================

**Question.** An array focuses sound 20 mm deep. A curved layer of bone, like a skull, lies in the
way. How much sound arrives, and where? And if you have simulations for k-Wave: does Groundswell
give the same answer from the same files?

**Input.** The sound speed, density and absorption of water and bone, and the signals of an array.
First as an input file of k-Wave, then as a case with shapes in millimetres.

**Output.** The pressure at a point in time, and its maximum everywhere.

The script takes about ten seconds on one core.
"""

from pathlib import Path

import h5py
import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

NX, NY = 144, 108  # grid points, absorbing layers included
DURATION = 27e-6  # s

folder = Path("results_bone")
folder.mkdir(exist_ok=True)

# %%
# The medium
# ----------
# The grid has a point every 0.25 mm, six for a wavelength of 1 MHz in water. Arrays have the axes
# y and x. Bone is the part between two circles.

h, dt = 0.25e-3, 25e-9  # m, s
x, y = h * np.arange(NX), h * np.arange(NY)[:, None]
CENTRE = (32.1e-3, 13.4e-3)  # m
distance = np.hypot(x - CENTRE[0], y - CENTRE[1])
bone = (distance > 17.1e-3) & (distance < 20.1e-3)

speed = np.where(bone, 2800.0, 1500.0)  # m/s
density = np.where(bone, 1850.0, 1000.0)  # kg/m^3
absorption = np.where(bone, 4.0, 0.02)  # dB/(MHz^y cm), with y = 1.2

# %%
# The array
# ---------
# The elements are 56 grid points in a line. Each emits a burst of four cycles. Sound from the outer
# elements has a longer way to the focus, so they start first.

elements = np.arange(26, 82)  # indices along y
at = 24  # index along x
focus = (28e-3, 13.5e-3)
travel = np.hypot(focus[0] - h * at, focus[1] - h * elements) / 1500.0  # s, in water
delays = travel.max() - travel


def burst(t):
    """Four cycles of 1 MHz in a Hann window."""
    window = np.where((t > 0) & (t < 4e-6), np.sin(np.pi * t / 4e-6) ** 2, 0.0)
    return window * np.sin(2 * np.pi * 1e6 * t)


steps = round(DURATION / dt)
signals = 100e3 * burst(dt * np.arange(steps)[:, None] - delays)  # Pa; steps, elements

# %%
# From k-Wave's file
# ------------------
# k-Wave and k-wave-python write an HDF5 file, which their programs in C++ and CUDA read. If you
# have one, skip this part. It shows what such a file contains: the medium, the signals as they are
# added to the density, and the numbers of sensor points, which start at 1.

sensor = (54, 112)  # indices along y and x, at the focus
scale = 2 * dt / (2 * 1500.0 * h)  # two dimensions; the unit of the result is that of density
content = {
    "Nx": NX, "Ny": NY, "Nz": 1, "Nt": steps, "dt": dt, "dx": h, "dy": h, "c_ref": 2800.0,
    "c0": speed, "rho0": density,
    "rho0_sgx": (density + np.roll(density, -1, axis=1)) / 2,  # where the velocities are
    "rho0_sgy": (density + np.roll(density, -1, axis=0)) / 2,
    "absorbing_flag": 1, "alpha_coeff": absorption, "alpha_power": 1.2, "nonlinear_flag": 0,
    "pml_x_size": 20, "pml_y_size": 20, "pml_x_alpha": 2.0, "pml_y_alpha": 2.0,
    "p_source_flag": steps, "p_source_mode": 2, "p_source_many": 1,  # 2: additive
    "p_source_index": 1 + elements * NX + at,
    "p_source_input": signals[None] * scale,
    "sensor_mask_type": 0, "sensor_mask_index": [1 + sensor[0] * NX + sensor[1]],
}
flags = ["nonuniform_grid", "axisymmetric", "p0_source", "transducer_source"]
flags += ["ux_source", "uy_source", "uz_source"]
content |= {f"{name}_flag": 0 for name in flags}

with h5py.File(folder / "input.h5", "w") as file:
    file.attrs.update(file_type="input", major_version="1", minor_version="2")
    file.attrs.update(created_by="a tutorial", creation_date="", file_description="bone")
    for name, value in content.items():
        is_real = np.asarray(value).dtype == float
        array = np.array(value, dtype="float32" if is_real else "uint64")
        file[name] = array.reshape((1,) * (3 - array.ndim) + array.shape)
        file[name].attrs.update(domain_type="real", data_type="float" if is_real else "long")

# %%
# ``groundswell run input.h5`` runs this file. So do the commands ``kspaceFirstOrder-OMP`` and
# ``kspaceFirstOrder-CUDA``, which take the options of k-Wave's own programs. In Python:

from_file = gs.run(folder / "input.h5", folder=folder / "from_file", overwrite=True, quiet=True)
p_file = from_file.samples["p"][:, 0]  # steps
print(f"{len(p_file)} samples, up to {p_file.max() / 1e3:.1f} kPa")

# %%
# From a case
# -----------
# A case describes the same physics in other terms: shapes, a burst, delays and positions in
# metres. No array appears. ``inside`` puts the absorbing layers into the region, as in k-Wave's
# files; by default, they are outside.

water = {"speed": 1500.0, "density": 1000.0, "absorption": 0.02, "power": 1.2}
shell = {
    "kind": "sphere", "centre": CENTRE, "radius": 20.1e-3, "inner": 17.1e-3,
    "speed": 2800.0, "density": 1850.0, "absorption": 4.0,
}
array = {
    "elements": [{"kind": "point", "position": [h * at, h * j]} for j in elements],
    "pressure": "100 kPa",
    "signal": {"kind": "burst", "frequency": "1 MHz", "cycles": 4, "window": "hann"},
    "delays": delays,
}
record = {
    "fields": ["p"],
    "where": {"kind": "points", "positions": [[h * sensor[1], h * sensor[0], 0.0]]},
    "file": "focus.nc",
}


def simulate(shapes):
    return gs.ultrasound.simulate(
        {**water, "shape": shapes},
        [array],
        points=(NX, NY),
        spacing=h,
        duration=DURATION,
        time={"step": dt, "reference_speed": 2800.0},
        boundary={"width": 20, "inside": True},
        records=[record],
    )


from_case = simulate([shell])
series = from_case.records["focus.nc"]["p"][:, 0]
p_case = series.values[1:][: len(p_file)]  # a case starts with the state at time 0

figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
microseconds = 1e6 * dt * np.arange(1, len(p_case) + 1)
axes.plot(microseconds, p_file[: len(p_case)] / 1e3, label="from k-Wave's file", linewidth=3)
axes.plot(microseconds, p_case / 1e3, label="from the case", linestyle="--")
axes.set(xlabel="time (µs)", ylabel="pressure at the focus (kPa)")
axes.legend()

# %%
# What bone does
# --------------
# Without the shell, the same case gives the beam in water. ``fields`` has the largest pressure at
# each point. We look for the focus behind the bone only, because sound that bone reflects adds to
# the sound that arrives, so that the pressure in front of it is larger.

in_water = simulate([])
figure, panels = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True, layout="constrained")
largest = float(in_water.fields["p_max"].max()) / 1e3
for axes, (name, result) in zip(
    panels, {"in water": in_water, "through bone": from_case}.items(), strict=True
):
    drawn = axes.pcolormesh(
        1e3 * x, 1e3 * y[:, 0], result.fields["p_max"][0] / 1e3, vmin=0, vmax=largest
    )
    axes.set(title=name, xlabel="x (mm)", aspect="equal")
panels[0].set_ylabel("y (mm)")
panels[1].contour(1e3 * x, 1e3 * y[:, 0], bone, levels=[0.5], colors="white", linewidths=0.8)
figure.colorbar(drawn, label="largest pressure (kPa)")
spots = {}
for name, result in {"water": in_water, "bone": from_case}.items():
    behind = result.fields["p_max"][0].sel(x=slice(17e-3, None)).load()
    spots[name] = behind[behind.argmax(...)]
    place = f"x = {1e3 * spots[name].x:.1f} mm, y = {1e3 * spots[name].y:.1f} mm"
    print(f"{name}: {spots[name] / 1e3:.0f} kPa at {place}")
print(f"bone leaves {float(spots['bone'] / spots['water']):.0%} of the pressure")

# %%
# The check
# ---------
# Both runs do the same arithmetic in single precision, in another order. They must agree to
# rounding, which is far below any error of the method.

difference = np.abs(p_case - p_file[: len(p_case)]).max() / np.abs(p_file).max()
print(f"largest difference: {difference:.1e} of the largest pressure")
assert difference < 1e-4, "the file and the case describe different physics"
assert 0.3 < spots["bone"] / spots["water"] < 0.9, "bone should weaken the focus"

# %%
# What to change next
# -------------------
# - Use your own file: ``gs.run("input.h5")``. ``groundswell convert input.h5 case.toml`` writes
#   it as a case, which you can edit.
# - How accurate is it? Halve ``h`` and ``dt``, and double the numbers of points. A curved surface
#   is a staircase of cells, so bone needs more points per wavelength than water.
# - Correct the aberration: ``groundswell focus case.toml --target 28,13.5`` finds delays for which
#   all sound arrives at the target at once.
# - In three dimensions, arrays have the axes z, y and x. Take a GPU: ``backend="cuda"``.
