"""The trace view, and the ring of the last traces that it looks in."""
