"""The comparison of two conversations, step by step."""
