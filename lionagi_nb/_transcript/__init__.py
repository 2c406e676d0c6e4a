"""The transcript view: the conversation of a branch, turn by turn."""
