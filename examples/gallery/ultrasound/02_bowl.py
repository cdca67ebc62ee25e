"""
A focused bowl
==============

The steady pressure of a bowl in water, in three dimensions, and on its axis against the formula of
O'Neil (:doc:`/ultrasound`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

H, SPEED, FREQUENCY = 0.6e-3, 1500.0, 500e3  # m, m/s, Hz
RADIUS = DIAMETER = 18e-3  # of curvature, and of the aperture, m
apex = np.array([2e-3, 18 * H, 18 * H])
bowl = {
    "kind": "bowl",
    "apex": apex, "focus": apex + RADIUS * np.eye(3)[0],
    "radius": RADIUS, "diameter": DIAMETER,
}
transducer = {
    "shape": bowl,
    "pressure": "100 kPa", "signal": {"kind": "sine", "frequency": FREQUENCY},
}
steady = {
    "fields": ["p"],
    "where": {"kind": "all"}, "what": ["amplitude"], "frequencies": [FREQUENCY],
    "from": "36 us", "file": "steady.nc",
}
result = gs.ultrasound.simulate(
    {"speed": SPEED, "density": 1000.0},
    [transducer],
    points=(60, 37, 37), spacing=H, duration="40 us", records=[steady],
)
pressure = result.records["steady.nc"]["p_amplitude"].squeeze() / 1e3  # kPa

x = np.linspace(5e-3, 34e-3, 400) - apex[0]
height = RADIUS - np.sqrt(RADIUS**2 - DIAMETER**2 / 4)
edge = np.hypot(x - height, DIAMETER / 2)  # distance from the edge of the bowl
k = 2 * np.pi * FREQUENCY / SPEED
oneil = 100 * np.abs(2 / (1 - x / RADIUS) * np.sin(k * (edge - x) / 2))  # O'Neil (1949)

figure, (top, bottom) = plt.subplots(2, 1, figsize=(7.5, 7), sharex=True, layout="constrained")
plane = pressure.sel(z=apex[2], method="nearest")
drawn = top.pcolormesh(1e3 * plane["x"], 1e3 * plane["y"], plane, cmap="magma", shading="gouraud")
top.set(aspect="equal", ylabel="y (mm)")
figure.colorbar(drawn, ax=(top, bottom), label="amplitude (kPa)", shrink=0.6)
axis = plane.sel(y=apex[1], method="nearest").sel(x=slice(5e-3, None))
bottom.plot(1e3 * (x + apex[0]), oneil, color="black", linewidth=1, label="O'Neil")
bottom.plot(1e3 * axis["x"], axis, "o", markersize=4, label="simulated")
bottom.set(xlabel="x (mm)", ylabel="amplitude on the axis (kPa)")
bottom.legend()
plt.show()
