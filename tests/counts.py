"""Counts: few examples of a law in a change's own tests, ten times as many in the slow suite."""

from hypothesis import settings


def full():
    """Whether full counts are asked for, as CONTRIBUTING's slow command does."""
    return settings.get_current_profile_name() != "repeated"


def few(count, **more):
    """Return the settings of a law of which so many examples are enough beside its other tests."""
    return settings(deadline=None, max_examples=10 * count if full() else count, **more)
