"""The version of this package, single-sourced for the build and for users."""

__version__ = "0.1.0"
