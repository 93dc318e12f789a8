"""Masking: the one place where secrets are taken out of whatever leaves a store.

What names things (ids, scopes, links) is given other names by the store's own door, since plans,
journals and people use it: `aliased`. What is written or printed passes `masked_table` or
`masked_value`; a text that is printed passes `masked_text`.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from memops.policy.safety import Secrets
from memops.safety.known_secrets import NONE, KnownSecrets
from memops.safety.looked import found, redacted
from memops.safety.secrets import sound

ALIAS = r"\[redacted:[a-z0-9-]+-[0-9a-f]{12}\]"
"""What stands for a secret in a name: its kind, and a digest by which the name is the same again."""
NAMES = ("id", "superseded_by", "scope")
"""Columns of records that name things."""

_DOCUMENTS = ("extra", "args")  # JSON
_LISTED = ("evidence", "derived_from")
_MADE = (
    "plan", "run", "snapshot", "path", "report", "before", "new_id", "ids", "restored", "suite",
)  # fmt: skip
_NAMED = frozenset((*NAMES, *_LISTED, *_MADE))
_DEFAULT = Secrets()
_ROUNDS = 8
_REMEMBERED = 200_000
_known: dict[str, str] = {}  # names, and what stands for them
_RANDOM = "token"  # the kind of what is random and of no known make
_OPAQUE = r"^[A-Za-z_]{0,12}[:_-]?[0-9a-fA-F-]{1,80}$"  # a UUID, a digest, a number
_PARTS = (  # a place and the digest of what stands there; a folder and a plan, run or report in it
    r"(?s)^(.*?)((?::[0-9a-f]{12}:\d+|/(?:plans|runs)/[0-9a-f]{16}(?:-\d{1,4})?(?:/report\.html)?)?)$"
)
_PLACED = ("origin", "block")  # columns of records that tell where one stands
_WITHIN = r"(?s)^(.+\.md|.*\z)((?:#[0-9a-f]{1,12}(?:\.\d{1,9})?)?)$"  # a note, and where in it
Mask = Callable[[pl.Series], pl.Series]
Read = Callable[[str, str], str]
_TELLING = re.compile(
    r"(?i)pass|pwd|secret|token$|api_?key|access_?key|private_?key|credential|authori|cookie"
    r"|密码|口令|授权码|密钥|令牌"
)


class _Plain(str):
    """A document that is no JSON."""


def aliased(names: pl.Series) -> pl.Series:
    """Return names without secrets, each secret in one replaced by its kind and a digest.

    What is random from end to end, as generated ids are, names nothing but itself and stays.
    """
    changed = _changed(names.drop_nulls().unique(), _aliases)
    return names.replace(changed) if changed else names


def named(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose columns that name things hold no secret."""
    return _replaced_in(table, [name for name in NAMES if name in table.columns], _aliases)


def aliases(names: Iterable[str | None]) -> dict[str, str]:
    """Return the names behind aliases, of those that have one."""
    held = pl.Series(sorted({name for name in names if name}), dtype=pl.String)
    pairs = zip(aliased(held), held, strict=True)
    return {alias: name for alias, name in pairs if alias != name}


def masked_table(
    table: pl.DataFrame, policy: Secrets = _DEFAULT, known: KnownSecrets = NONE
) -> pl.DataFrame:
    """Return a table of which no text holds a secret, as every file that is written needs.

    `known` are those that other texts told of, also before.
    """
    held = [n for n, kind in table.schema.items() if kind in (pl.String, pl.List(pl.String))]
    documents = [masked_json(table[name], policy, known) for name in _DOCUMENTS if name in held]
    places = [name for name in held if name in _PLACED]
    texts = set(held).difference(_DOCUMENTS, _NAMED, places)
    mask = _mask(policy, known)
    clean = _replaced_in(table, [name for name in held if name in _NAMED], _aliases)
    clean = _replaced_in(clean, places, partial(_heads, _WITHIN, mask))
    return _replaced_in(clean, [n for n in held if n in texts], mask).with_columns(documents)


def masked_value(value: Any, policy: Secrets = _DEFAULT, known: KnownSecrets = NONE) -> Any:
    """Return a nested value of which no string holds a secret, as everything printed needs.

    A string under a telling key is read beside it, so that `{"password": "..."}` is understood;
    what names things is aliased.
    """
    return mapped(value, _reader(_leaves(value), policy, _NAMED, known))


def masked_json(
    documents: pl.Series, policy: Secrets = _DEFAULT, known: KnownSecrets = NONE
) -> pl.Series:
    """Return JSON documents of which no string holds a secret; what is not JSON is masked as text.

    Documents without a secret come back byte for byte.
    """
    out = documents.to_list()
    values = {row: _parsed(text) for row, text in enumerate(out) if text and len(text) > 2}
    held = {row: {*_leaves(value)} for row, value in values.items()}
    every = {leaf for leaves in held.values() for leaf in leaves}
    read = _reader(every, policy, known=known)
    changed = {leaf for leaf in every if read(*leaf) != leaf[0]}
    for row, leaves in held.items():
        if not changed.isdisjoint(leaves):
            try:
                out[row] = _written(values[row], read)
            except RecursionError:
                out[row] = _mask(policy, known)(pl.Series([out[row]]))[0]
    return pl.Series(documents.name, out, dtype=pl.String)


def masked_text(
    text: str, value: Any = None, policy: Secrets = _DEFAULT, known: KnownSecrets = NONE
) -> str:
    """Return a text for people with the secrets of each line masked.

    `value` is what the text was made of: the names in it stay as they are, so that they can be
    copied.
    """
    lines = pl.Series(sound(text).split("\n"), dtype=pl.String)
    hits = found(lines, policy)
    if hits.is_empty():
        return "\n".join(known.masked(lines, policy)) if known.stores else text
    names = {name for name, key in _leaves(value) if key in _NAMED}
    whole = "\n".join(sorted(names))
    spans = {lines[row][start:end] for row, start, end, _ in hits.iter_rows()}
    stay = sorted(span for span in spans if span in whole and aliased(pl.Series([span]))[0] == span)
    allow = [*policy.allow, *([f"(?:{'|'.join(map(pl.escape_regex, stay))})"] if stay else [])]
    return "\n".join(_mask(replace(policy, allow=allow), known)(lines))


def _mask(policy: Secrets, known: KnownSecrets) -> Mask:
    """What masks the secrets that texts tell of themselves, and the known ones."""
    return lambda texts: known.masked(redacted(texts, policy), policy)


def _aliases(names: pl.Series, along: Sequence[str] = ()) -> pl.Series:
    """What `aliased` gives for distinct names, each of which is looked at once in a process.

    Texts `along` are looked at in the same go, if there is one.
    """
    if len(_known) > _REMEMBERED:
        _known.clear()
    telling = ~names.str.contains(_OPAQUE)
    listed = names.filter(telling).to_list()
    if new := [name for name in listed if name not in _known]:
        _known.update(
            zip(new, _made(pl.Series(new, dtype=pl.String), along).to_list(), strict=True)
        )
    made = pl.Series([_known.get(name) for name in listed], dtype=pl.String)
    return names.clone().scatter(telling.arg_true(), made) if listed else names


def _made(names: pl.Series, along: Sequence[str]) -> pl.Series:
    """The names, or what stands for them."""

    def settled(texts: pl.Series) -> pl.Series:
        table: dict[str, str] = {}
        held = texts
        for _ in range(_ROUNDS):
            new = _pseudonyms(texts, along) if len(texts) else {}
            if not new:
                break
            first = {made: head for head, made in table.items()}
            table |= {first.get(text, text): made for text, made in new.items()}
            texts = pl.Series([*new.values()], dtype=pl.String)
        return held.replace(table)

    return _heads(_PARTS, settled, names)


def _heads(parted: str, mask: Mask, names: pl.Series) -> pl.Series:
    """Names of which the first part, each distinct one once, is masked and the second stays."""
    parts = names.to_frame("name").select(
        head=pl.col("name").str.extract(parted, 1), rest=pl.col("name").str.extract(parted, 2)
    )
    changed = _changed(parts["head"].unique(), mask)
    return parts.select(pl.concat_str(pl.col("head").replace(changed), "rest")).to_series()


def _pseudonyms(texts: pl.Series, along: Sequence[str]) -> dict[str, str]:
    """The texts that hold secrets, each secret replaced by its kind and a digest."""
    sizes = texts.str.len_chars()
    spans: dict[int, list[tuple[int, int, str]]] = {}
    every = pl.concat([texts.rename(""), pl.Series(along, dtype=pl.String)])
    for row, start, end, kind in found(every).iter_rows():
        if row < len(sizes) and (start, end, kind) != (0, sizes[row], _RANDOM):
            spans.setdefault(row, []).append((start, end, kind))
    return {texts[row]: _replaced(texts[row], held) for row, held in spans.items()}


def _replaced(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    at, pieces = 0, list[str]()
    for start, end, kind in spans:
        digest = hashlib.sha256(text[start:end].encode("utf-8", "replace")).hexdigest()[:12]
        pieces += [text[at:start], f"[redacted:{kind}-{digest}]"]
        at = end
    return "".join([*pieces, text[at:]])


def _replaced_in(table: pl.DataFrame, names: list[str], mask: Mask) -> pl.DataFrame:
    """A table with each distinct value of some columns, texts or lists of them, masked once."""
    if not names:
        return table
    lists = {name for name in names if table.schema[name] == pl.List(pl.String)}
    flat = (pl.col(name).explode() if name in lists else pl.col(name) for name in names)
    parts = [table.lazy().select(column.alias("")).drop_nulls().unique() for column in flat]
    values = pl.concat(parts).unique().collect(engine="in-memory").to_series()
    changed = _changed(values, mask)
    if not changed:
        return table
    return table.with_columns(
        pl.col(name).list.eval(pl.element().replace(changed))
        if name in lists
        else pl.col(name).replace(changed)
        for name in names
    )


def _changed(values: pl.Series, mask: Mask) -> dict[str, str]:
    """What masking makes of distinct values, of those that it changes."""
    new = mask(values) if len(values) else values
    other = values != new
    return dict(zip(values.filter(other), new.filter(other), strict=True))


def _reader(
    leaves: Iterable[tuple[str, str]],
    policy: Secrets,
    names: Collection[str] = (),
    known: KnownSecrets = NONE,
) -> Read:
    """What masking makes of these strings under their keys, each distinct one looked at once."""
    given = set(leaves)
    told = {leaf for leaf in given if leaf[1] not in names and _TELLING.search(leaf[1])}
    texts = {text for text, key in given if key not in names}
    texts |= {f"{key}: {text}" for text, key in told}
    along = sorted(map(sound, texts)) if policy == _DEFAULT else []
    by_name = _table({text for text, key in given if key in names}, partial(_aliases, along=along))
    by_text = _table(texts, _mask(policy, known))

    def read(text: str, key: str) -> str:
        if key in names:
            return by_name[text]
        new = by_text[f"{key}: {text}"] if (text, key) in told else ""
        return new.removeprefix(f"{key}: ") if new.startswith(f"{key}: ") else by_text[text]

    return read


def _table(texts: Iterable[str], mask: Mask) -> dict[str, str]:
    """What masking makes of texts; half characters, which no table holds, hide nothing."""
    held = sorted(texts)
    plain = pl.Series([sound(text) for text in held], dtype=pl.String)
    made = zip(held, plain, mask(plain) if held else plain, strict=True)
    return {text: new if new != was else text for text, was, new in made}


def _parsed(document: str) -> Any:
    """What a document says; a text where it is no JSON."""
    try:
        return json.loads(document)
    except (ValueError, RecursionError):
        return _Plain(document)


def _written(value: Any, read: Read) -> str:
    """A masked value as a document that UTF-8 can hold; what was no JSON is a text."""
    new = mapped(value, read)
    if isinstance(value, _Plain):
        return str(new)
    text = json.dumps(new, ensure_ascii=False)
    return text if text == sound(text) else json.dumps(new)


def _leaves(value: Any) -> Iterator[tuple[str, str]]:
    """Every string in nested lists and tables with the key that it stands under; keys are texts."""
    stack = [(value, "")]
    while stack:
        at, key = stack.pop()
        if isinstance(at, str):
            yield at, key
        elif isinstance(at, Mapping):
            stack += [(name, "") for name in at if isinstance(name, str)]
            stack += [(inner, str(name)) for name, inner in at.items()]
        elif isinstance(at, list | tuple):
            stack += [(inner, key) for inner in at]


def mapped(value: Any, read: Read, key: str = "") -> Any:
    """Return a nested value with every string in it read under its key; counts of one name add up."""
    if isinstance(value, str):
        return read(value, key)
    if isinstance(value, list | tuple):
        inside = [mapped(inner, read, key) for inner in value]
        return tuple(inside) if isinstance(value, tuple) else inside
    if not isinstance(value, Mapping):
        return value
    out: dict[Any, Any] = {}
    for name, inner in value.items():
        new, shown = mapped(inner, read, str(name)), name
        if isinstance(name, str):
            shown = read(name, "")
        adds = shown in out and isinstance(new, int) and isinstance(out[shown], int)
        out[shown] = out[shown] + new if adds else new
    return out
