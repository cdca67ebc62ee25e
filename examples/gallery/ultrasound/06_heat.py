"""
Heat and thermal dose
=====================

A focused continuous wave heats tissue for 6 s: temperature at the focus, and the lesion, where the
dose is above 240 minutes at 43 °C (:doc:`/ultrasound`).
"""

import matplotlib.pyplot as plt

import groundswell as gs

tissue = {"speed": 1540.0, "density": 1050.0, "absorption": 0.7, "power": 1.1}
arc = {
    "kind": "arc",
    "apex": ["1 mm", "15 mm"], "focus": ["21 mm", "15 mm"],
    "radius": "20 mm", "diameter": "16 mm",
}
wave = {"kind": "sine", "frequency": "1 MHz"}
result = gs.ultrasound.simulate(
    tissue,
    [{"shape": arc, "signal": wave, "pressure": "950 kPa"}],
    points=(176, 120), spacing="0.25 mm", duration="40 us",
)
heat = result.heat(6, 20, tissue=gs.ultrasound.Tissue(perfusion=8.0))
heated = heat.fields

figure, (left, right) = plt.subplots(
    1, 2, figsize=(12, 4.2), width_ratios=[1.4, 1], layout="constrained"
)
hot = heated["temperature_max"].squeeze()
x, y = 1e3 * hot["x"], 1e3 * hot["y"]
drawn = left.pcolormesh(x, y, hot, cmap="magma", vmin=37)
dose = heated["dose"].squeeze()
left.contour(x, y, dose, levels=[240], colors="cyan")
left.set(aspect="equal", xlabel="x (mm)", ylabel="y (mm)", title="Lesion (line)")
figure.colorbar(drawn, ax=left, label="highest temperature (°C)", shrink=0.8)
right.plot(heated["time"], heated["hottest"], color="C3")
right.axvspan(0, 6, color="0.9")
right.text(3, 38, "sound on", ha="center")
right.set(xlabel="time (s)", ylabel="temperature of the hottest point (°C)", xlim=(0, 26))
plt.show()
