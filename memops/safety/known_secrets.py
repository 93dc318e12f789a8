"""Known secrets: values that records of a store told to be secrets, known again by keyed digests.

    <state>/stores/<id>/secrets.json   a random key; of each value its HMAC under it, kind and length

Once what told of a value is masked, nothing tells any more that the same value in a heading is
one. So whatever is printed or written masks these, too, where they stand whole.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from memops import files
from memops.errors import MemopsError
from memops.policy.safety import Secrets
from memops.safety.secrets_elsewhere import masked_again, mixed, told_by

_FILE = "secrets.json"
_LONG = 32  # characters without a blank: few runs are longer
_START = re.compile(r"(?<![\w-])(?=\S)")
_END = re.compile(r"(?![\w-])|$")


@dataclass(frozen=True)
class KnownSecrets:
    """What is known of each store: the key of its digests, and by digest the kind of a value."""

    stores: tuple[tuple[bytes, Mapping[str, tuple[str, int]]], ...] = ()

    def masked(self, texts: pl.Series, policy: Secrets) -> pl.Series:
        """Return texts with the known secrets masked, but for what the policy calls none."""
        known = self.values(texts, policy)
        return masked_again(texts, known, policy)[0] if known else texts

    def text(self, text: str, policy: Secrets) -> str:
        """Return one text with the known secrets masked."""
        return str(self.masked(pl.Series([text], dtype=pl.String), policy)[0])

    def values(self, texts: pl.Series, policy: Secrets) -> dict[str, str]:
        """Return the known secrets that texts hold, with their kinds."""
        sizes = [sorted({size for _, size in known.values()}) for _, known in self.stores]
        least = min((size for of in sizes for size in of), default=0)
        if not least:
            return {}
        runs = texts.drop_nulls().str.extract_all(rf"\S{{{min(least, _LONG)},}}")
        tokens = runs.explode().drop_nulls().unique()
        told = tokens.filter(mixed(tokens))
        found = {value: kind for token in told.sort() for value, kind in self._in(token, sizes)}
        allowed = re.compile("|".join(f"(?:{p})" for p in policy.allow) or r"(?!)")
        return {
            value: kind
            for value, kind in found.items()
            if kind not in policy.off and not allowed.fullmatch(value)
        }

    def _in(self, token: str, sizes: Sequence[Sequence[int]]) -> Iterator[tuple[str, str]]:
        """What of a run without blanks is known, from an edge of a word to one, of a store's sizes."""
        ends = {at.start() for at in _END.finditer(token)}
        for (key, known), of in zip(self.stores, sizes, strict=True):
            for start in (at.start() for at in _START.finditer(token)):
                for value in (token[start : start + s] for s in of if start + s in ends):
                    if (digest := _digest(key, value)) in known:
                        yield value, known[digest][0]


NONE = KnownSecrets()


def learn(folder: Path, records: pl.DataFrame, policy: Secrets) -> None:
    """Remember in a store's folder the secrets that its records tell."""
    key, known = _read(folder / _FILE) or (secrets.token_bytes(32), {})
    values = told_by(records, policy)
    new = {_digest(key, value): (kind, len(value)) for value, kind in values.items()}
    if not new.keys() <= known.keys():
        said = {"key": key.hex(), "known": new | {**known}}
        files.write_json(folder / _FILE, said)


def remembered(state: Path) -> KnownSecrets:
    """Return what is known of all stores."""
    kept = (_read(path) for path in sorted((state / "stores").glob(f"*/{_FILE}")))
    return KnownSecrets(tuple(one for one in kept if one))


def _read(path: Path) -> tuple[bytes, dict[str, tuple[str, int]]] | None:
    """The key and what is known; None where there is no such file, or it is damaged."""
    try:
        said = files.read_json(path)
        known = {str(name): (str(kind), int(size)) for name, (kind, size) in said["known"].items()}
        return bytes.fromhex(said["key"]), known
    except (OSError, MemopsError, KeyError, TypeError, ValueError, AttributeError):
        return None


def _digest(key: bytes, value: str) -> str:
    return hmac.new(key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]
