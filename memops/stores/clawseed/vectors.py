"""Vectors for clawseed's rows that have none, by the model that made those of the others.

clawseed compares vectors of one model only and writes nowhere which that was. So a model may fill
the gaps if it makes, of the texts that have vectors, the vectors that they have.
"""

import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memops.errors import MemopsError
from memops.models.vectors import Encoder, Vectors
from memops.stores.clawseed.rows import TABLE, content_hash
from memops.stores.sqlite import columns_in, errors, reader, transaction, writer

LEAST_ALIKE = 0.999
"""Cosine from which two vectors of one text are one model's; rounding costs far less."""
SAMPLE = 32
BATCH = 100
"""Rows that are filled under one short lock."""

_FILL = f"""UPDATE {TABLE} SET embedding = ?, embedding_content_hash = ?
  WHERE rowid = ? AND embedding IS NULL AND CAST(content AS BLOB) = ?"""


def lacking(path: Path) -> list[tuple[int, str]]:
    """Return rowid and text of the live rows that have no vector."""
    with reader(path) as connection:
        linked = "superseded_by" in columns_in(connection, TABLE)
        live = "AND superseded_by IS NULL" if linked else ""
        query = f"SELECT rowid, content FROM {TABLE} WHERE embedding IS NULL {live} ORDER BY rowid"
        return [row for row in _texts(connection.execute(query).fetchall()) if row[1].strip()]


def refuse_other_model(path: Path, encoder: Encoder) -> int:
    """Raise MemopsError unless the encoder makes a store's vectors; returns how many it was shown."""
    with reader(path) as connection:
        known = _known(connection, columns_in(connection, TABLE))
    if not known:
        hint = "let clawseed embed first: backfill_on_startup = true"
        raise MemopsError(f"{path} has no vector to compare a model's with", hint)
    made = encoder.encode([text for text, _ in known])
    alike = [_cosine(a, b) for a, (_, b) in zip(made, known, strict=True)]
    if other := sum(not cosine >= LEAST_ALIKE for cosine in alike):
        said = f"the model makes other vectors than {path} has: {other} of {len(known)} differ"
        raise MemopsError(said, "give the model that clawseed is configured with")
    return len(known)


def fill(path: Path, rows: Sequence[tuple[int, str]], encoder: Encoder) -> int:
    """Give rows their vectors, a short transaction a batch; one that changed meanwhile is left."""
    filled = 0
    with errors(path), contextlib.closing(writer(path)) as connection:
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            made = encoder.encode([text for _, text in batch])
            values = [
                (vector.astype("<f4").tobytes(), content_hash(text), rowid, text.encode())
                for vector, (rowid, text) in zip(made, batch, strict=True)
            ]
            with transaction(connection, "IMMEDIATE"):
                filled += sum(connection.execute(_FILL, value).rowcount for value in values)
    return filled


def _known(connection: sqlite3.Connection, columns: Sequence[str]) -> list[tuple[str, Vectors]]:
    """Texts with the vectors that were made of them, evenly over the store."""
    if "embedding_content_hash" not in columns:
        return []
    query = f"""SELECT rowid, content, embedding, embedding_content_hash FROM {TABLE}
      WHERE length(embedding) > 0 AND length(embedding) % 4 = 0 ORDER BY rowid"""
    rows = connection.execute(query).fetchall()
    found = [
        (text, np.frombuffer(row[2], "<f4"))
        for row, (_, text) in zip(rows, _texts([row[:2] for row in rows], keep=True), strict=True)
        if text.strip() and row[3] == content_hash(text).encode()
    ]
    return found[:: max(1, len(found) // SAMPLE)][:SAMPLE]


def _texts(rows: Sequence[tuple[int, bytes]], keep: bool = False) -> list[tuple[int, str]]:
    """Rows whose text is UTF-8; with `keep` the others, too, as blank ones."""
    out = []
    for rowid, content in rows:
        try:
            out.append((rowid, bytes(content).decode("utf-8")))
        except UnicodeDecodeError:
            out += [(rowid, "")] if keep else []
    return out


def _cosine(a: Vectors, b: Vectors) -> float:
    if a.shape != b.shape:
        return 0.0
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / norms if norms else 0.0
