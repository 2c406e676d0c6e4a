"""Views and helpers for Jupyter."""
