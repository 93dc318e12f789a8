"""Maintain and grade the long-term memory stores of AI agents."""

__version__ = "0.1.0"
