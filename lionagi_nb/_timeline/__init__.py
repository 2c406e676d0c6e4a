"""The timeline: model calls and the tools between them, what answered each call, and what a script left unused."""
