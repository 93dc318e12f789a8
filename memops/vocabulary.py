"""Vocabulary: what a word means, looked up in the lexicons of concepts and of conflict.

Tokens come out as (concept, class): words that mean the same, in English or Chinese, share a
concept; words in no lexicon are their own stem (`w:...`) or, in Chinese, the run itself.
"""

import re
import unicodedata
from functools import cache, lru_cache
from typing import Any, NamedTuple

from memops.lexicon import lexicon
from memops.values import Value, found

CONTENT = frozenset({"thing", "single", "multi", "word", "name", "value", "person", "qualifier"})


class Token(NamedTuple):
    """One word or value: `concept` says what it means, `kind` which class it belongs to."""

    concept: str
    kind: str
    surface: str
    clause: int


def spoken(text: str) -> tuple[str, list[Token], list[Value]]:
    """Return the text in one script and width, its tokens in order, and its values."""
    plain = unicodedata.normalize("NFKC", _REDACTED.sub(" ", text))
    plain = plain.replace("’", "'").translate(_simplified())
    values = found(plain)
    tokens: list[Token] = []
    clause, at, starts = 0, 0, {value.start: value for value in reversed(values)}
    end_of = {value.start: max(v.end for v in values if v.start == value.start) for value in values}
    while at < len(plain):
        if at in starts:
            tokens.append(_valued([v for v in values if v.start == at], plain, clause))
            at = end_of[at]
            continue
        match = _PIECE.match(plain, at)
        if match is None:
            clause += plain[at] in _BREAKS
            at += 1
            continue
        stop = match.end()
        if starts:
            stop = min([stop, *(start for start in starts if at < start < stop)])
        piece = plain[at:stop]
        if "一" <= piece[0] <= "鿿":
            opens = not tokens or tokens[-1].clause < clause
            tokens += _han(_HOWEVER.sub("", piece) if opens else piece, clause)
        else:
            tokens += [_latin(one, clause) for one in _split(piece)]
        at = stop
    return plain, _phrased(tokens), values


def parts(token: Token) -> list[str]:
    """Return a token as items: an unknown Chinese run falls into bigrams, so that parts match."""
    run = token.concept
    if run.startswith("h:") and len(run) > 4:
        return [f"h:{run[i : i + 2]}" for i in range(2, len(run) - 1)]
    return [run]


@cache
def words() -> dict[str, tuple[str, str]]:
    """Return every single word and Chinese run of the lexicons with its concept and class."""
    return {word: meaning for word, meaning in _entries().items() if " " not in word}


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the English stem."""
    return str(_stemmer().stemWord(word))


_REDACTED = re.compile(r"\[redacted[^\]]*\]")
_PIECE = re.compile(r"[^\W\d_一-鿿][^\W一-鿿]*(?:['+#.&/-]+[^\W一-鿿]+)*\+*|[一-鿿]+")
_HOWEVER = re.compile("^不过(?!敏)")
_BREAKS = ",.;:!?，。；：！？、\n"
_LONGEST = 7


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@cache
def _simplified() -> dict[int, str]:
    table = lexicon("concepts").get("script", {})
    pairs = zip(table["traditional"], table["simplified"], strict=True)
    return {ord(old): new for old, new in pairs}


_KINDS = ("person", "qualifier", "single", "multi", "change", "thing", "function")


@cache
def _entries() -> dict[str, tuple[str, str]]:
    """Every word and phrase with its meaning; where two lists hold one, the first decides."""
    out: dict[str, tuple[str, str]] = {}
    for word, meaning in [*_harmless(), *_exclusives(), *_concept_words()]:
        out.setdefault(word, meaning)
    negation, quantifier = (lexicon("conflict")[name] for name in ("negation", "quantifier"))
    changes = {word for word, (_, kind) in out.items() if kind == "change"}
    out |= {w: ("not", "negation") for w in negation["en"] + negation["zh"] if w not in changes}
    for concept, listed in quantifier.items():
        for word in listed:
            if out.get(word, ("", "function"))[1] == "function":
                out[word] = (concept, "quantifier")
    return out


def _harmless() -> list[tuple[str, tuple[str, str]]]:
    """Words that hold a negation and deny nothing."""
    table = lexicon("conflict")["negation"]
    return [(word, (f"w:{word}", "function")) for word in table["not_zh"] + table["not_en"]]


def _exclusives() -> list[tuple[str, tuple[str, str]]]:
    groups = lexicon("conflict")["exclusive"].items()
    named = [(group, member.split()) for group, members in groups for member in members]
    return [
        (n.replace("_", " "), (f"{group}={names[0]}", "value"))
        for group, names in named
        for n in names
    ]


def _concept_words() -> list[tuple[str, tuple[str, str]]]:
    table = lexicon("concepts")
    return [
        (word.replace("_", " ").lower(), (concept, kind))
        for kind in _KINDS
        for concept, listed in table[kind].items()
        for word in listed.split()
    ]


@cache
def _phrases() -> dict[str, list[tuple[tuple[str, ...], tuple[str, str]]]]:
    out: dict[str, list[tuple[tuple[str, ...], tuple[str, str]]]] = {}
    for phrase, meaning in _entries().items():
        parts = tuple(phrase.split())
        if len(parts) > 1:
            out.setdefault(parts[0], []).append((parts, meaning))
    return {first: sorted(rest, key=lambda p: -len(p[0])) for first, rest in out.items()}


@cache
def _stems() -> dict[str, tuple[str, str]]:
    out: dict[str, tuple[str, str]] = {}
    for word, meaning in words().items():
        if word.isascii() and len(word) > 3 and meaning[1] != "function":
            out.setdefault(stem(word), meaning)
    return out


def _split(piece: str) -> list[str]:
    """Part words joined by a stroke (req/min) when the lexicon knows each of them."""
    halves = piece.split("/")
    return halves if all(half.lower() in words() for half in halves) else [piece]


def _latin(piece: str, clause: int) -> Token:
    return Token(*_meaning(piece), piece, clause)


@lru_cache(maxsize=200_000)
def _meaning(piece: str) -> tuple[str, str]:
    low = piece.lower().rstrip(".'-&/").removesuffix("'s")
    known = words().get(low) or (words().get(low.rstrip("s")) if len(low) > 4 else None)
    known = known or (_stems().get(stem(low)) if low.isalpha() else None)
    if known:
        return known
    named = piece[0].isupper() or not low.isalpha() or any(c.isupper() for c in piece[1:])
    return f"w:{stem(low) if low.isalpha() else low}", "name" if named else "word"


def _han(run: str, clause: int) -> list[Token]:
    table, out, unknown, at = words(), [], "", 0
    while at < len(run):
        size = next(
            (n for n in range(min(_LONGEST, len(run) - at), 0, -1) if run[at : at + n] in table), 0
        )
        if size:
            out += _unknown(unknown, clause)
            unknown = ""
            out.append(Token(*table[run[at : at + size]], run[at : at + size], clause))
        else:
            unknown += run[at]
        at += size or 1
    return out + _unknown(unknown, clause)


def _unknown(run: str, clause: int) -> list[Token]:
    return [Token(f"h:{run}", "word", run, clause)] if run else []


def _valued(values: list[Value], plain: str, clause: int) -> Token:
    first = values[0]
    return Token(f"{first.kind}={first.form}", "value", plain[first.start : first.end], clause)


def _phrased(tokens: list[Token]) -> list[Token]:
    """Join the words of English phrases."""
    low = [token.surface.lower().rstrip(".") for token in tokens]
    out: list[Token] = []
    at = 0
    while at < len(tokens):
        hit = next(
            (
                (parts, m)
                for parts, m in _phrases().get(low[at], [])
                if tuple(low[at : at + len(parts)]) == parts
            ),
            None,
        )
        if hit:
            out.append(Token(*hit[1], " ".join(hit[0]), tokens[at].clause))
            at += len(hit[0])
        else:
            out.append(tokens[at])
            at += 1
    return out
