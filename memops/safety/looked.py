"""Looked at: each text is searched for secrets, and for orders, once, however many steps and nights ask.

A night asks of the same texts when it exports a snapshot, redacts, guards, writes a plan and
reports. What was found in a text depends on that text and the policy alone; a text without a
secret is remembered by its digest, so that a million of them take little room, and from night to
night (`remembering`). So is one that gives a model no orders (`memops.safety.hostile`).
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from memops.policy.safety import Hostile, Secrets
from memops.safety import secrets

_DEFAULT = Secrets()
_REMEMBERED = 4_000_000  # texts without a secret
_HELD = 100_000  # texts with one
_CLEAN = pl.Schema({"hash": pl.Binary()})
BARE = re.compile(
    r"(?:memops:)?[a-z]{1,16}(?:[._/-][a-z]{1,16}){0,3}|-?\d{1,3}(?:\.\d{1,3})?"
    r"|\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{3,6})?(?:Z|[+-]\d\d:\d\d)?)?"
    r"|[a-z]{1,8}\d{1,2}|\d{8}T\d{6}Z-[a-z]{1,16}-[0-9a-f]{8}"
)
"""Names of few short words, small numbers, times, and snapshots, which no shape of a secret matches:
the first search of a process costs a tenth of a second, however little it looks at."""


@dataclass
class _Known:
    """What is known under one policy: texts without secrets, and of others what is found and made.

    `asked` are those that a night asked about; `again` has Python's hashes, which are of this process
    alone, of clean texts that it asked about already.
    """

    clean: set[bytes] = field(default_factory=set)
    asked: set[bytes] = field(default_factory=set)
    spans: dict[str, list[tuple[int, int, str]]] = field(default_factory=dict)
    masked: dict[str, str] = field(default_factory=dict)
    again: set[int] = field(default_factory=set)

    def unlooked(self, texts: list[str]) -> list[tuple[str, bytes]]:
        """Return those of the texts that are not known to be clean, with their digests."""
        rest = [(text, _key(text)) for text in texts if hash(text) not in self.again]
        self.asked.update(key for _, key in rest)
        self.again.update(hash(text) for text, key in rest if key in self.clean)
        return [(text, key) for text, key in rest if key not in self.clean]


_known: dict[str, _Known] = {}


@contextmanager
def remembering(folder: Path, *policies: Secrets | Hostile) -> Iterator[None]:
    """Take for clean what the last night of a store found so, and keep what this one asks about."""
    from memops.statements.remembered import recalled, written

    every = {repr(one): one for one in (_DEFAULT, *policies)}.values()
    names = {repr(one): f"clean-{_key(repr(one)).hex()}" for one in every}
    before = {name: {*recalled(folder, name, _CLEAN)["hash"]} for name in names.values()}
    for one in every:
        known = _of(one)
        known.clean |= before[names[repr(one)]]
        known.asked.clear()
        known.again.clear()
    yield
    for one in every:
        known, name = _of(one), names[repr(one)]
        if not known.asked & known.clean <= before[name]:
            asked = pl.DataFrame({"hash": sorted(known.asked & known.clean)}, _CLEAN)
            kept = written(folder, name, asked)
            for other in {*folder.glob(f"{name}-*.parquet")} - {kept}:
                other.unlink(missing_ok=True)


def unlooked(texts: pl.Series, policy: Hostile) -> pl.Series:
    """Return which texts are not known to be clean (`take_for_clean`) under a policy."""
    listed = texts.to_list()
    new = {text for text, _ in _of(policy).unlooked(listed)}
    return pl.Series([text in new for text in listed], dtype=pl.Boolean)


def take_for_clean(texts: pl.Series, policy: Secrets | Hostile) -> None:
    """Remember that nothing was found in texts."""
    _of(policy).clean.update(map(_key, texts))


def found(texts: pl.Series, policy: Secrets = _DEFAULT) -> pl.DataFrame:
    """Return where secrets stand, as `secrets.found` does."""
    texts = texts.cast(pl.String).rename("text")
    known, dirty = _dirty(texts, policy)
    if not dirty:
        return secrets.FOUND.to_frame()
    rows = [(text, *span) for text in dirty for span in known.spans[text]]
    told = pl.DataFrame(rows, ["text", "start", "end", "kind"], orient="row")
    here = texts.to_frame().with_row_index("row").filter(pl.col("text").is_in(dirty))
    return here.join(told, on="text", maintain_order="left_right").select(
        pl.col(name).cast(dtype) for name, dtype in secrets.FOUND.items()
    )


def redacted(texts: pl.Series, policy: Secrets = _DEFAULT) -> pl.Series:
    """Return the texts with every secret masked and all else as it was, as `secrets.redacted` does."""
    known, dirty = _dirty(texts, policy)
    if not dirty:
        return texts
    new = [text for text in dirty if text not in known.masked]
    if new:
        rows = [(n, *span) for n, text in enumerate(new) for span in known.spans[text]]
        hits = pl.DataFrame(rows, secrets.FOUND, orient="row")
        made, clean = secrets.settled(pl.Series(new, dtype=pl.String), hits, policy)
        known.masked.update(zip(new, made, strict=True))
        if clean:
            known.clean.update(map(_key, made))
    return texts.replace({text: known.masked[text] for text in dirty})


def _dirty(texts: pl.Series, policy: Secrets) -> tuple[_Known, list[str]]:
    """The distinct texts that hold secrets; those that nobody looked at yet are looked at."""
    known = _of(policy)
    distinct = texts.cast(pl.String).drop_nulls().unique(maintain_order=True).to_list()
    rest = known.unlooked(distinct)
    new = [(text, key) for text, key in rest if text not in known.spans]
    if not policy.patterns:
        known.clean.update(key for text, key in new if BARE.fullmatch(text))
        new = [(text, key) for text, key in new if key not in known.clean]
    if new:
        hits = secrets.found(pl.Series([text for text, _ in new], dtype=pl.String), policy)
        for row, *span in hits.iter_rows():
            known.spans.setdefault(new[row][0], []).append((span[0], span[1], span[2]))
        known.clean.update(key for text, key in new if text not in known.spans)
    return known, [text for text, _ in rest if text in known.spans]


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _of(policy: Secrets | Hostile) -> _Known:
    """What is known under a policy, as long as it is not too much."""
    known = _known.setdefault(repr(policy), _Known())
    if len(known.clean) > _REMEMBERED or len(known.spans) > _HELD:
        known = _known[repr(policy)] = _Known()
    return known
