"""One verb of the branch; see the module of the same name."""
