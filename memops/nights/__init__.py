"""Nights: the steps of one store or of several in their order, and whether each had its night."""
