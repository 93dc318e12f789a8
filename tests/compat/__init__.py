"""Parity with the agents, checked by vectors of their behaviour."""


class Unsupported(Exception):
    """A case for what memops does not reproduce, or whose vector says too little to run it."""


class Case(dict):
    """A case of a file of vectors that knows which of its fields were looked at.

    Taking an object whole (comparing, merging or listing it) is looking at all that is in it.
    """

    def __init__(self, fields):
        super().__init__({name: _wrapped(value) for name, value in fields.items()})
        self.seen = set()

    def __getitem__(self, name):
        self.seen.add(name)
        return super().__getitem__(name)

    def get(self, name, default=None):
        self.seen.add(name)
        return super().get(name, default)

    def pop(self, name, *default):
        self.seen.add(name)
        return super().pop(name, *default)

    def __iter__(self):
        self._look()
        return super().__iter__()

    def keys(self):
        self._look()
        return super().keys()

    def items(self):
        self._look()
        return super().items()

    def values(self):
        self._look()
        return super().values()

    def __eq__(self, other):
        self._look()
        return super().__eq__(other)

    def __or__(self, other):
        return {**self, **other}

    def __ror__(self, other):
        return {**other, **self}

    __hash__ = None

    def _look(self):
        self.seen |= set(super().keys())
        for value in super().values():
            for inner in _cases(value):
                inner._look()

    def unread(self, known=frozenset()):
        """Return the paths of the fields that nobody looked at, but for these of its own."""
        own = [name for name in super().__iter__() if name not in self.seen and name not in known]
        deep = [
            f"{name}.{path}"
            for name, value in super().items()
            if name in self.seen
            for inner in _cases(value)
            for path in inner.unread()
        ]
        return sorted({*own, *deep})


def rows_of(rows, *known):
    """Return rows as plain dictionaries; raises KeyError for a field that is not known.

    For rows of which not every one is looked at: what is hidden, cut off or filtered out.
    """
    for row in rows:
        if strange := {*row.keys()} - {*known}:
            raise KeyError(f"unknown field {min(strange)!r}")
    return [dict(row) for row in rows]


def _wrapped(value):
    if isinstance(value, dict):
        return Case(value)
    return [_wrapped(item) for item in value] if isinstance(value, list) else value


def _cases(value):
    if isinstance(value, Case):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _cases(item)
