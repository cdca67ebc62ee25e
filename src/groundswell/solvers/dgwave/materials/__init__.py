"""The materials of elements: averages, values at nodes, and extremes.

They come from the media of a grid or of a mesh's physical volumes.
"""
