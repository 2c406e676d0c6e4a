"""The view of a form and its problems."""
