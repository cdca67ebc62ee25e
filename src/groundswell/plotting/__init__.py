"""The common style of pictures, map frames, and labels that do not overlap."""
