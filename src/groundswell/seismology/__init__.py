"""Seismology for any solver: media, sources, stations, file formats, reference solutions."""
