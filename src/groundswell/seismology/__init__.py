"""Seismology: media, sources, stations, file formats and reference solutions."""
