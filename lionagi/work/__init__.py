"""Typed forms: declared fields, values, rules, and every problem in one pass; nothing here schedules or runs work."""
