"""Questions: what a person could ask of one statement, in its own words and those of its place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memops.documents.leads import attribute
from memops.language.lexicon import lexicon
from memops.language.packs import scripted, spaced
from memops.language.vocabulary import CONTENT, Token
from memops.statements.reading import Reading, read_many

LANGS = tuple(lexicon("questions")["word"])
_TERMS = 4  # of a query for a known item that stands by itself
_PASSING = ("event", "todo", "question", "hypothetical", "quoted", "past_strong")
_CHAINED = re.compile(r"[,;，；、和与及 ]*")
_CLOSING = re.compile(r"[\s.。!！?？;；,，:：]+$")
_LINKS = "is|are|was|at|on|in|to|by|of|for|with|every"
_LINKING = re.compile(rf"\s*(?:[:：]|\b(?:{_LINKS})\b)?\s*$", re.I)
_EVERY = re.compile("[每在] ?$")
_COPULA = re.compile(r"\s(?:is|are)\s")
_LABEL = re.compile(r"^(?:- )?\d{4}-\d\d-\d\d(?:T\S+)?[:：]?\s*")
_WORD = re.compile(r"[^\W\d_]{3,}|[一-鿿]{2,}")
_NUMBER = re.compile(r"^\d+(?:\.\d+)*[.)、]?\s+")
_NAME = re.compile(r"(?=.*[^\W\d_]{2})[^\W_](?:[\w '/&+.-]{0,38}[\w)])?")
"""A heading or label as people write one: words, and none of the marks that code and sums need."""


@dataclass(frozen=True)
class Statement:
    """One text as it can be asked about: what it is about (`topic`) and which values it gives (`answer`)."""

    text: str
    lang: str
    reading: Reading
    topic: tuple[frozenset[str], ...]
    answer: frozenset[str]

    @property
    def standing(self) -> bool:
        """Return whether it says how things are: no event, plan, question or supposition."""
        return not any(self.reading.marks.get(name) for name in _PASSING)

    @property
    def told(self) -> list[Token]:
        """Return the tokens that give the answer."""
        return [t for t in self.reading.tokens if t.concept in self.answer]

    @property
    def about(self) -> list[Token]:
        """Return the tokens with content that do not."""
        return [
            t for t in self.reading.tokens
            if (t.kind in CONTENT or t.kind == "change") and t.concept not in self.answer
        ]  # fmt: skip


def stated_many(texts: Sequence[tuple[str, str]]) -> list[Statement]:
    """Return what can be asked of each of many texts, with its language: one of LANGS, or mixed."""
    read = read_many([_LABEL.sub("", text) for text, _ in texts])
    return [_stated(*told, reading) for told, reading in zip(texts, read, strict=True)]


def _stated(text: str, lang: str, reading: Reading) -> Statement:
    sets = reading.sets
    answer = (sets["current"] - sets["left"]) & sets["complement"]
    topic = tuple(sets[n] - answer for n in ("owner", "about", "circumstances", "subject"))
    lang = lang if lang in LANGS else scripted("han")
    return Statement(text, lang, reading, topic, frozenset(answer))


def known_item(said: Statement, rarity: Mapping[str, int]) -> str | None:
    """Return the most telling words of a text that stands by itself, in their order."""
    every = (t for t in said.reading.tokens if t.kind in CONTENT and t.kind != "person")
    own = [t for t in every if _WORD.fullmatch(t.surface)]
    first = {t.concept: t for t in reversed(own)}
    rare = sorted(first, key=lambda c: (rarity.get(c, 0), c))[:_TERMS]
    chosen = [t.surface for t in own if t.concept in rare and first[t.concept] is t]
    return " ".join(chosen) if len(chosen) >= 2 else None


def labelled(text: str, under: str, over: str = "") -> str | None:
    """Return what a value is called, under its heading and the one over that; None of a text that
    labels none.

    >>> labelled("Gateway: omada.lan, since May", "Home network", "Flat in Porto")
    'Flat in Porto Home network Gateway'
    """
    told = attribute(text)
    under, over = _NUMBER.sub("", under), _NUMBER.sub("", over)
    named = bool(told and _NAME.fullmatch(told[0]) and _NAME.fullmatch(under))
    if not told or not named or told[0].lower() in under.lower():
        return None
    place = f"{over} {under}" if _NAME.fullmatch(over) else under
    if told[1].strip().lower() in place.lower():  # the question would say its answer
        return None
    return f"{place} {told[0]}"


def value_question(said: Statement) -> str | None:
    """Return the question that its values answer; None for a statement without any."""
    if not said.told or not any(said.topic) or any(t.kind == "word" for t in said.told):
        return None
    text = _CLOSING.sub("", _LABEL.sub("", said.text))
    spans = _spans(text, [t.surface for t in said.told])
    if len(spans) != 1 or spans[0][0] < 2:
        return None
    word = _word(said.told[0], said.lang)
    if not spaced(said.lang):
        head = text[: spans[0][0]]
        if word == lexicon("questions")["word"][said.lang]["time"]:
            head = _EVERY.sub("", head)
        asked = " ".join([head, word, text[spans[0][1] :], "？"])
        return re.sub(r"(?<=[一-鿿：，]) | (?=[一-鿿？，])", "", asked).strip()
    copula = _COPULA.search(text)
    if copula and copula.end() <= spans[0][0] + 1:
        subject = _lowered(text[: copula.start()].strip())
        form: str = lexicon("questions")["form"][f"value_{said.lang}"]
        asked = form.format(word=word, topic=subject)
        return asked[0].upper() + asked[1:]
    head = _LINKING.sub("", text[: spans[0][0]])
    return f"{head} {word}?" if head else None


def unknowns(held: frozenset[str], langs: Sequence[str]) -> list[tuple[str, str]]:
    """Return (question, language) of what none of these texts (lower case) has a word of."""
    whole = "\n".join(sorted(held))
    return [
        (entry[lang], lang)
        for entry in lexicon("questions")["unknown"]
        if not any(word in whole for word in entry["words"].split())
        for lang in langs
    ]


def _word(token: Token, lang: str) -> str:
    table: dict[str, str] = lexicon("questions")["word"][lang]
    kind = token.concept.split("=")[0] if "=" in token.concept else "other"
    return table.get(kind, table["other"])


def _spans(text: str, surfaces: Sequence[str]) -> list[tuple[int, int]]:
    """Where the answers stand; those that follow each other are one."""
    found = []
    for surface in surfaces:
        at = text.find(surface)
        if at < 0:
            return []
        found.append((at, at + len(surface)))
    out: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if out and _CHAINED.fullmatch(text[out[-1][1] : start]):
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def _lowered(text: str) -> str:
    first = text.split(" ")[0]
    plain = first in ("The", "A", "An", "Our", "My", "Their") or first.startswith("User")
    return text[0].lower() + text[1:] if plain else text
