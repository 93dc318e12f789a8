"""Counts: few examples of a law in a change's own tests, many in the slow suite."""

from hypothesis import settings


def full():
    """Whether full counts are asked for, as CONTRIBUTING's slow command does."""
    return settings.get_current_profile_name() != "repeated"


def few(count, many=None, **more):
    """Return the settings of a law of which so many examples are enough beside its other tests.

    The slow suite asks for ten times as many, or so `many`.
    """
    most = (many or 10 * count) if full() else count
    return settings(deadline=None, max_examples=most, **more)
