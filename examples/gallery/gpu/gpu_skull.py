"""
Through a skull in three dimensions
===================================

A bowl at 500 kHz focuses through a curved plate of bone, on forty million points: benchmark 5 of
Aubry and others (2022), with 12 points per wavelength in water (:doc:`/ultrasound`).

.. stored-picture:: gpu_skull
"""

# sphinx_gallery_thumbnail_path = '../examples/gallery/stored/gpu_skull.png'
import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

bone = {
    "kind": "sphere", "centre": ["105 mm", "0 mm", "0 mm"], "radius": "75 mm",
    "inner": "68.5 mm", "speed": 2800, "density": 1850, "absorption": 16.0,
}
bowl = {
    "kind": "bowl", "apex": [0, 0, 0], "focus": ["64 mm", "0 mm", "0 mm"],
    "radius": "64 mm", "diameter": "64 mm",
}
transducer = {
    "shape": bowl,
    "signal": {"kind": "sine", "frequency": "500 kHz"}, "pressure": "60 kPa",
}
steady = {
    "fields": ["p"],
    "where": {"kind": "plane", "normal": "z", "at": 0},
    "what": ["amplitude"], "frequencies": ["500 kHz"], "from": "144 us",
    "file": "steady.nc",
}


def amplitude(shapes):
    """The steady amplitude in the plane through the axis, kPa, and the focus."""
    result = gs.ultrasound.simulate(
        {"speed": 1500, "density": 1000, "shape": shapes},
        [transducer],
        points=(502, 282, 282), spacing="0.25 mm", duration="150 us",
        grid={"origin": ["-5 mm", "-35 mm", "-35 mm"]},
        records=[steady], backend="cuda", quiet=False,
    )
    return result.records["steady.nc"]["p_amplitude"].squeeze() / 1e3


figure, panels = plt.subplots(2, 1, figsize=(10, 11), sharex=True, layout="constrained")
for axes, (name, shapes) in zip(panels, {"water": [], "bone": [bone]}.items(), strict=True):
    p = amplitude(shapes)
    x, y = 1e3 * p["x"], 1e3 * p["y"]
    behind = p.sel(x=slice(45e-3, None))
    drawn = axes.pcolormesh(x, y, p, cmap="magma", vmax=float(behind.max()))
    axes.set(aspect="equal", ylabel="y (mm)")
    axes.set_title(f"{name}: {float(behind.max()):.0f} kPa at the focus")
    figure.colorbar(drawn, ax=axes, label="amplitude (kPa)", extend="max")
angle = np.linspace(-0.55, 0.55, 200)
for radius in (75, 68.5):
    panels[1].plot(
        105 - radius * np.cos(angle), radius * np.sin(angle), color="cyan", linewidth=0.8
    )
panels[1].set_ylim(-35, 35)
panels[1].set_xlabel("x (mm)")
plt.show()
