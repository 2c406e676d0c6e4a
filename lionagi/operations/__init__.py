"""The verbs of a branch: chat, communicate, run, parse, act and operate."""
