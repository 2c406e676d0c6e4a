"""The action view: what the model asked for, what ran, and why something did not."""
