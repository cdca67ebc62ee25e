"""
What attenuation takes away
===========================

The same earthquake in rock with three quality factors, 9 km away: a low Q weakens the
waves, most of all those of high frequency (:doc:`/earthquake`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

ROCK = np.full((20, 20, 60), 2000.0)  # depth, y, x; m/s
source = {
    "kind": "force",
    "x": "1 km", "y": "2 km", "depth": "1 km", "force": [0, 1e13, 0],
    "time_function": {"kind": "gaussian", "sigma": "0.18 s"},
}
station = {"name": "FAR", "x": 10e3, "y": 2e3}

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for qs in (1000, 50, 20):
    model = gs.earthquake.Model(1.8 * ROCK, ROCK, 2400.0, 2.0 * qs, qs, spacing=200.0)
    attenuation = {"model": "constant", "reference": "1 Hz", "band": ["0.1 Hz", "10 Hz"]}
    result = gs.earthquake.simulate(
        model, [source], [station], duration="8 s", attenuation=attenuation
    )
    north = 100 * result.seismograms.sel(station="FAR", component="N")
    spectrum = np.abs(np.fft.rfft(north, 4096)) * float(north["time"][1])
    frequency = np.fft.rfftfreq(4096, float(north["time"][1]))
    left.plot(north["time"], north, label=f"Q = {qs}")
    right.semilogy(frequency, spectrum, label=f"Q = {qs}")
left.set(xlabel="time (s)", ylabel="velocity to the north (cm/s)", xlim=(4, 7))
right.set(xlabel="frequency (Hz)", ylabel="amplitude spectrum (cm)", xlim=(0, 2))
right.set_ylim(bottom=1e-3 * right.get_ylim()[1])
left.legend()
plt.show()
