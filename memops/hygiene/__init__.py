"""Hygiene: what ages, is done, is due, does harm or is no memory at all."""
