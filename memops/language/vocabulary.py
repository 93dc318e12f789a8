"""Vocabulary: what a word means, looked up in the lexicons of concepts and of conflict.

Tokens come out as (concept, class): words that mean the same, in English or Chinese, share a
concept; words in no lexicon are their own stem (`w:...`) or, in Chinese, the run itself.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from memops.language.keeping import Kept
from memops.language.lexicon import lexicon
from memops.language.packs import cues
from memops.language.stemming import stemmed

CONTENT = frozenset({"thing", "single", "multi", "word", "name", "value", "person", "qualifier"})


class Token(NamedTuple):
    """One word or value: `concept` says what it means, `kind` which class it belongs to."""

    concept: str
    kind: str
    surface: str
    clause: int


class Said(NamedTuple):
    """A value, or a part of one, that a text says: where it stands, its kind and its form.

    `near` are forms that another text may give it which was not turned from another system, `gaps`
    words between its parts, and whether they stand before the number.
    """

    start: int
    end: int
    kind: str
    form: str
    near: tuple[str, ...] = ()
    gaps: tuple[tuple[int, int, bool], ...] = ()


def plainly(text: str) -> str:
    """Return the text in one script and width, without what was redacted."""
    plain = _REDACTED.sub(" ", text) if "[redacted" in text else text
    if plain.isascii():
        return plain
    plain = "".join(
        part if nth % 2 else unicodedata.normalize("NFKC", part)
        for nth, part in enumerate(_RAISED.split(plain))
    )
    return plain.replace("’", "'").translate(_simplified())


Word = tuple[str, str, str]
"""The concept, the class and the surface of a token."""


def heard(plain: str, values: Sequence[Said]) -> list[Token]:
    """Return the tokens of a text of `plainly` that holds some values."""
    return [*map(token, *parsed(plain, values))]


def token(word: Word, clause: int) -> Token:
    """Return a word in a clause as a token."""
    return Token(*word, clause)


def parsed(plain: str, values: Sequence[Said]) -> tuple[list[Word], list[int]]:
    """Return the same as words, and the clause of each."""
    words_: list[Word] = []
    clauses: list[int] = []
    if values:
        plain, valued = _marked(plain, values)
        told = iter(valued)
    clause = 0
    for piece in _PIECE.findall(plain):
        if piece in _BREAKS:
            clause += 1
            continue
        if piece in _MARKS:
            words_.append(_valued(*next(told)))
        elif piece[0] == "不":
            opens = not clauses or clauses[-1] < clause
            words_ += _known[_HOWEVER.sub("", piece) if opens else piece]
        else:
            words_ += _known[piece]
        clauses += [clause] * (len(words_) - len(clauses))
    return _phrased(words_, clauses)


def _marked(plain: str, values: Sequence[Said]) -> tuple[str, list[tuple[Said, str]]]:
    """A text with a sign for the values that begin at each place, and these as they are shown."""
    starts: dict[int, list[Said]] = {}
    for value in values:
        starts.setdefault(value.start, []).append(value)
    out, valued, at = [], [], 0
    for start, told in starts.items():
        if start < at:
            continue
        joined = _JOINED.match(plain, start) is not None
        ahead, behind = (
            [f" {plain[a:b]} " for a, b, first in told[0].gaps if first is side]
            for side in (True, False)
        )
        out += [plain[at:start], *ahead, _MARKS[joined], *behind]
        valued.append((told[0], plain[start : told[0].end]))
        at = max(value.end for value in told)
    return "".join([*out, plain[at:]]), valued


def is_run(concept: str) -> bool:
    """Return whether a concept is an unknown Chinese run of more than two characters."""
    return len(concept) > 4 and concept[:2] == "h:"


def bigrams(run: str) -> list[str]:
    """Return the parts of an unknown run."""
    return [f"h:{run[i : i + 2]}" for i in range(2, len(run) - 1)]


@cache
def words() -> dict[str, tuple[str, str]]:
    """Return every single word and Chinese run of the lexicons with its concept and class."""
    return {word: meaning for word, meaning in _entries().items() if " " not in word}


@cache
def addressed() -> frozenset[str]:
    """Return how Chinese people are called by their surname: 老周, 王医生, 李姐."""
    use = lexicon("concepts")["use"]
    called = {call + name for call in "老小阿" for name in use["familiar"]}
    titled = {name + title for name in use["surnames"] for title in use["titles"]}
    return frozenset(
        called
        | titled
        | {name + title for name in use["familiar"] for title in use["short_titles"]}
    )


@cache
def phrases() -> dict[str, list[tuple[tuple[str, ...], tuple[str, str]]]]:
    """Return the English phrases of the lexicons by their first word, the longest first."""
    out: dict[str, list[tuple[tuple[str, ...], tuple[str, str]]]] = {}
    for phrase, meaning in _entries().items():
        parts = tuple(phrase.split())
        if len(parts) > 1:
            out.setdefault(parts[0], []).append((parts, meaning))
    return {first: sorted(rest, key=lambda p: -len(p[0])) for first, rest in out.items()}


@lru_cache(50_000)
def stem(word: str) -> str:
    """Return the English stem."""
    return stemmed(word, "english")


def meaning(word: str) -> tuple[str, str] | None:
    """Return concept and class of a word in lower case, where the lexicons hold it or its stem."""
    return words().get(word) or _stems().get(stem(word))


@lru_cache(50_000)
def meant(word: str) -> str:
    """Return what a word between spaces, in lower case, means: its concept, or its stem."""
    found = meaning(word)
    return found[0] if found else stem(word)


_REDACTED = re.compile(r"\[redacted[^\]]*\]")
_RAISED = re.compile("([¼-¾⅐-⅞]|(?<=\\d)[²³¹⁰-⁹])")
"""What would be read as a part of the number before it: 1½, 10²."""
_BREAKS = ",.;:!?，。；：！？、<>→←⇒\n"
_MARKS = "\ue000\ue001"
"""What stands for a value: one that begins with no letter or digit, one that a word may be joined to."""
_PIECE = re.compile(
    r"[^\W\d_一-鿿][^\W一-鿿]*(?:['+#.&/-]+(?:[^\W一-鿿]+|(?=\ue001)))*(?:[+#]+(?!\w))?"
    rf"|[一-鿿]+|[{_BREAKS}{_MARKS}]"
)
"""Words, runs without spaces, what ends a clause between them, and values."""
_JOINED = re.compile(r"[^\W一-鿿]")
_HOWEVER = re.compile("^不过(?!敏)")
_LONGEST = 7


def _is_wide(sign: str) -> bool:
    """Whether a sign is of a script without spaces."""
    return "一" <= sign <= "鿿"


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
    for word, meaning in [*_harmless(), *_exclusives(), *_concept_words(), *_familiar()]:
        out.setdefault(word, meaning)
    changes = {word for word, (_, kind) in out.items() if kind == "change"}
    out |= {w: ("not", "negation") for w in cues("negation") if w not in changes}
    for concept in ("all", "none", "some", "only"):
        for word in cues("quantifier", concept):
            if out.get(word, ("", "function"))[1] == "function":
                out[word] = (concept, "quantifier")
    return out


def _harmless() -> list[tuple[str, tuple[str, str]]]:
    """Words that hold a negation and deny nothing."""
    return [(word, (f"w:{word}", "function")) for word in cues("negation", "harmless")]


def _exclusives() -> list[tuple[str, tuple[str, str]]]:
    groups = lexicon("conflict")["exclusive"].items()
    named = [(group, member.split()) for group, members in groups for member in members]
    return [
        (n.replace("_", " "), (f"{group}={names[0]}", "value"))
        for group, names in named
        for n in names
    ]


def _familiar() -> list[tuple[str, tuple[str, str]]]:
    """Chinese names such as 老周, 王医生 and 李姐."""
    return [(name, (f"h:{name}", "word")) for name in sorted(addressed())]


def _concept_words() -> list[tuple[str, tuple[str, str]]]:
    table = lexicon("concepts")
    return [
        (word.replace("_", " ").lower(), (concept, kind))
        for kind in _KINDS
        for concept, listed in table[kind].items()
        for word in listed.split()
    ]


@cache
def _stems() -> dict[str, tuple[str, str]]:
    out: dict[str, tuple[str, str]] = {}
    for word, meaning in words().items():
        if word.isascii() and len(word) > 3 and meaning[1] != "function":
            out.setdefault(stem(word), meaning)
    return out


def _split(piece: str) -> list[str]:
    """Part words joined by a stroke (req/min) when the lexicon knows each of them."""
    if "/" not in piece:
        return [piece]
    halves = piece.split("/")
    return halves if all(half.lower() in words() for half in halves) else [piece]


def _told(piece: str) -> Sequence[Word]:
    """The words of a piece between two breaks or values."""
    return _segmented(piece) if not piece or _is_wide(piece[0]) else _latin(piece)


_known: Kept[str, Sequence[Word]] = Kept(_told)


def _latin(piece: str) -> list[Word]:
    """The words of a Latin piece."""
    return [(*_meaning(word), word) for word in _split(piece)]


def _meaning(piece: str) -> tuple[str, str]:
    low = piece.lower().rstrip(".'-&/").removesuffix("'s")
    known = words().get(low) or (words().get(low.rstrip("s")) if len(low) > 4 else None)
    known = known or (_stems().get(stem(low)) if low.isalpha() else None)
    if known:
        return known
    plain = low.replace("-", "").isalpha()  # after-hours
    named = piece[0].isupper() or not plain or any(c.isupper() for c in piece[1:])
    return f"w:{stem(low) if low.isalpha() else low}", "name" if named else "word"


def _segmented(run: str) -> list[Word]:
    """The words of a Chinese run, the longest known first."""
    table, sizes = words(), _sizes()
    out: list[Word] = []
    unknown, at = "", 0
    while at < len(run):
        left = len(run) - at
        known = (n for n in sizes.get(run[at], ()) if n <= left and run[at : at + n] in table)
        size = next(known, 0)
        if size == 1 and unknown and table[run[at]][1] == "qualifier":
            size = 0
        if size:
            if unknown:
                out.append((f"h:{unknown}", "word", unknown))
            unknown = ""
            out.append((*table[run[at : at + size]], run[at : at + size]))
        else:
            unknown += run[at]
        at += size or 1
    if unknown:
        out.append((f"h:{unknown}", "word", unknown))
    return out


@cache
def _sizes() -> dict[str, tuple[int, ...]]:
    """For each first character how long the known words are, the longest first."""
    out: dict[str, set[int]] = {}
    for word in words():
        if len(word) <= _LONGEST:
            out.setdefault(word[0], set()).add(len(word))
    return {first: tuple(sorted(sizes, reverse=True)) for first, sizes in out.items()}


def _valued(value: Said, surface: str) -> Word:
    return f"{value.kind}={value.form}", "value", surface


_bare: Kept[str, str] = Kept(lambda surface: surface.lower().rstrip("."))
"""Words in lower case, without the point of what is cut short."""


def _phrased(words_: list[Word], clauses: list[int]) -> tuple[list[Word], list[int]]:
    """Join the words of English phrases; each is of the clause of its first."""
    begin, bare = phrases(), _bare
    low = [bare[word[2]] for word in words_]
    out: list[Word] = []
    of: list[int] = []
    at = 0
    for start, listed in enumerate(map(begin.get, low)):
        if listed is None or start < at:
            continue
        for parts, meaning in listed:
            if tuple(low[start : start + len(parts)]) == parts:
                out += words_[at:start]
                out.append((*meaning, " ".join(parts)))
                of += clauses[at : start + 1]
                at = start + len(parts)
                break
    return ([*out, *words_[at:]], [*of, *clauses[at:]]) if at else (words_, clauses)
