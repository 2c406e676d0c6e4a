"""Composed language-model calls with typed answers and governed tools."""
