"""Endpoints and how they are reached. Import from the modules; :mod:`lionagi.service` re-exports the public names."""
