"""
Sound that steepens
===================

A strong plane wave in water distorts as it travels: energy moves from 1 MHz to its harmonics, as
Fubini's solution predicts (:doc:`/ultrasound`).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import jv

import groundswell as gs

H, SPEED, RHO, FREQUENCY, B_OVER_A = 0.1e-3, 1500.0, 1000.0, 1e6, 5.0
PRESSURE = 3e6  # Pa
START = 20  # point of the source
points = (400, 8)  # the axis y is periodic: a plane wave
source = {
    "shape": {"kind": "mask", "indices": START + points[0] * np.arange(points[1])},
    "pressure": PRESSURE,
    "signal": {"kind": "sine", "frequency": FREQUENCY},
}
steady = {
    "fields": ["p"],
    "where": {"kind": "all"},
    "what": ["amplitude"], "frequencies": [FREQUENCY * n for n in (1, 2, 3, 4)],
    "from": "31 us", "file": "steady.nc",
}
result = gs.ultrasound.simulate(
    {"speed": SPEED, "density": RHO, "nonlinearity": B_OVER_A},
    [source],
    points=points, spacing=H, duration="34 us", boundary={"width": [20, 0]},
    records=[steady],
)
amplitude = result.records["steady.nc"]["p_amplitude"].squeeze().isel(y=0) / 1e6  # MPa

x = H * np.arange(1, points[0] - START)  # from the source
beta = 1 + B_OVER_A / 2
shock = RHO * SPEED**3 / (beta * 2 * np.pi * FREQUENCY * PRESSURE)  # distance to the shock

figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
for n, wave in enumerate(amplitude, start=1):
    fubini = PRESSURE / 1e6 * 2 / (n * x / shock) * jv(n, n * x / shock)  # Fubini (1935)
    axes.plot(1e3 * x, fubini, color="black", linewidth=0.8, label="Fubini" if n == 1 else None)
    axes.plot(1e3 * x[::12], wave[START + 1 :: 12], "o", markersize=4, label=f"{n} MHz")
axes.set(xlabel="distance from the source (mm)", ylabel="amplitude (MPa)", ylim=(0, None))
axes.legend()
plt.show()
