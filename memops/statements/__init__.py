"""Statements: what a text says, read into sets and marks that can be compared."""
