"""
A focus behind bone
===================

The largest pressure of a focused burst in water, and behind a plate of bone
(:doc:`/ultrasound`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

spacing = 0.25e-3  # m
x = spacing * np.arange(120)
bone = np.broadcast_to((x > 10e-3) & (x < 12e-3), (80, 120))
arc = {
    "kind": "arc",
    "apex": ["1 mm", "10 mm"], "focus": ["21 mm", "10 mm"],
    "radius": "20 mm", "diameter": "16 mm",
}
burst = {"kind": "burst", "frequency": "1 MHz", "cycles": 4}
transducer = {"shape": arc, "signal": burst, "pressure": "100 kPa"}
media = {
    "water": {"speed": np.full(bone.shape, 1500.0), "density": 1000.0},
    "bone": {
        "speed": np.where(bone, 2400.0, 1500.0),  # m/s
        "density": np.where(bone, 1850.0, 1000.0),  # kg/m^3
    },
}

figure, panels = plt.subplots(1, 2, figsize=(11, 3.6), sharey=True, layout="constrained")
for (name, medium), axes in zip(media.items(), panels, strict=True):
    result = gs.ultrasound.simulate(medium, [transducer], spacing=spacing, duration="21 us")
    peak = result.fields["p_max"].squeeze() / 1e3
    drawn = axes.pcolormesh(1e3 * peak["x"], 1e3 * peak["y"], peak, cmap="magma", vmin=0, vmax=350)
    title = f"{name}: {result.focus.pressure / 1e3:.0f} kPa at the focus"
    axes.set(aspect="equal", xlabel="x (mm)", title=title)
panels[0].set_ylabel("y (mm)")
panels[1].contour(1e3 * x, 1e3 * peak["y"], bone, levels=[0.5], colors="white", linewidths=0.8)
figure.colorbar(drawn, label="largest pressure (kPa)", extend="max")
plt.show()
