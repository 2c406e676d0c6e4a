"""Branch, the facade over the verbs."""
