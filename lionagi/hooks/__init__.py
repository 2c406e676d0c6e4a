"""Hooks: functions that are called at fixed points of a session's work."""
