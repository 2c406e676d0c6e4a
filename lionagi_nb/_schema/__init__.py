"""The schema view: which fields a model is asked for, which it never sees, and after a run who filled which."""
