"""Identified values, messages, and tools: what the verbs work with."""
