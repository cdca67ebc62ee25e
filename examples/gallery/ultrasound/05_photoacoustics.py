"""
Photoacoustics
==============

A laser heats vessels for an instant; the sound of their expansion arrives at a ring of sensors. Its
picture is an initial pressure, not a transducer (:doc:`/ultrasound`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

H, POINTS = 0.1e-3, 200
x = H * (np.arange(POINTS) - POINTS / 2)  # m, from the centre
y = x[:, None]
vessels = np.zeros((POINTS, POINTS))
vessels[(abs(y - 2.5e-3 * np.sin(x / 2e-3)) < 0.35e-3) & (abs(x) < 5.5e-3)] = 2e3  # Pa
vessels[np.hypot(x + 1e-3, y + 4.5e-3) < 0.9e-3] = 3e3
angles = np.radians(np.arange(0, 360, 2))
middle = H * POINTS / 2
ring = middle + 9e-3 * np.stack([np.cos(angles), np.sin(angles)])
record = {
    "fields": ["p"],
    "where": {"kind": "points", "positions": [[*at, 0.0] for at in ring.T], "method": "cubic"},
    "file": "ring.nc",
}
result = gs.ultrasound.simulate(
    {"speed": 1500.0, "density": 1000.0},
    initial=vessels,
    spacing=H, duration="11 us", records=[record],
)
sound = result.records["ring.nc"]["p"]

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
drawn = left.pcolormesh(1e3 * x, 1e3 * x, vessels / 1e3, cmap="magma")
left.plot(*(1e3 * (ring - middle)), ".", color="cyan", markersize=2)
left.set(aspect="equal", xlabel="x (mm)", ylabel="y (mm)", title="Initial pressure and sensors")
figure.colorbar(drawn, ax=left, label="kPa")
drawn = right.pcolormesh(
    np.degrees(angles), 1e6 * sound["time"], sound / 1e3, cmap="RdBu_r", vmin=-0.6, vmax=0.6
)
right.set(xlabel="angle of the sensor (degrees)", ylabel="time (µs)", title="Recorded pressure")
right.invert_yaxis()
figure.colorbar(drawn, ax=right, label="kPa", extend="both")
plt.show()
