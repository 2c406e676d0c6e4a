"""The command ``li``."""
