"""
A film of a burst
=================

A burst of four cycles passes through a plate of bone, which reflects part of it. The film shows the
pressure at times that the case records (:doc:`/recording`).
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation

import groundswell as gs

spacing = 0.25e-3  # m
x = spacing * np.arange(160)
bone = np.broadcast_to((x > 14e-3) & (x < 17e-3), (112, 160))
medium = {
    "speed": np.where(bone, 2400.0, 1500.0),  # m/s
    "density": np.where(bone, 1850.0, 1000.0),  # kg/m^3
}
transducer = {
    "shape": {
        "kind": "arc",
        "apex": ["1 mm", "14 mm"], "focus": ["29 mm", "14 mm"],
        "radius": "28 mm", "diameter": "20 mm",
    },
    "signal": {"kind": "burst", "frequency": "0.8 MHz", "cycles": 4}, "pressure": "100 kPa",
}
frames = {"fields": ["p"], "where": {"kind": "all"}, "interval": "0.6 us", "file": "frames.nc"}
result = gs.ultrasound.simulate(
    medium, [transducer], spacing=spacing, duration="26 us", records=[frames]
)
pressure = result.records["frames.nc"]["p"].squeeze() / 1e3  # kPa, by time

figure, axes = plt.subplots(figsize=(7, 4.6), dpi=72, layout="constrained")
extent = [1e3 * float(of) for axis in (pressure["x"], pressure["y"]) for of in (axis[0], axis[-1])]
drawn = axes.imshow(
    pressure[0], extent=extent, origin="lower", cmap="RdBu_r", vmin=-150, vmax=150,
    interpolation="bilinear",
)
axes.axvspan(14, 17, color="black", alpha=0.12, linewidth=0)
axes.set(xlabel="x (mm)", ylabel="y (mm)")
figure.colorbar(drawn, label="pressure (kPa)", extend="both")


def show(number):
    """Draw a frame."""
    drawn.set_data(pressure[number])
    axes.set_title(f"{1e6 * float(pressure['time'][number]):.1f} µs")


film = FuncAnimation(figure, show, frames=range(8, len(pressure)), interval=120)  # from 4.8 µs
plt.show()
