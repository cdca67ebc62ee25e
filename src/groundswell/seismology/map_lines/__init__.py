"""Lines on maps, such as coasts, borders and faults: files of them, and those of a run."""
