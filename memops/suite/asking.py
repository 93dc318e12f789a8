"""Asking: what could be asked of one statement, in its own words, in others, and in the other language."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from memops.language.lexicon import lexicon
from memops.language.vocabulary import CONTENT, Token, words
from memops.statements.reading import Reading, read_many

LANGS = ("en", "zh")
_TELLING = 4  # terms of a query for a known item
_PASSING = ("event", "todo", "question", "hypothetical", "quoted", "past_strong")
_CHAINED = re.compile(r"[,;，；、和与及 ]*")
_CLOSING = re.compile(r"[\s.。!！?？;；,，:：]+$")
_LINKING = re.compile(
    r"\s*(?:[:：]|\b(?:is|are|was|at|on|in|to|by|of|for|with|every)\b)?\s*$", re.I
)
_EVERY = re.compile("[每在] ?$")
_COPULA = re.compile(r"\s(?:is|are)\s")
_LABEL = re.compile(r"^(?:- )?\d{4}-\d\d-\d\d(?:T\S+)?[:：]?\s*")
_HAN = re.compile(r"[一-鿿]")


@dataclass(frozen=True)
class Statement:
    """One text as it can be asked about.

    `topic` says what it is about, `answer` which values it gives; of two statements of one topic
    and different answers, one is out of date or the question is ambiguous.
    """

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


def stated(text: str, lang: str) -> Statement:
    """Return what can be asked of a text; `lang` is en, zh or mixed (asked in Chinese)."""
    return stated_many([(text, lang)])[0]


def stated_many(texts: Sequence[tuple[str, str]]) -> list[Statement]:
    """Return what can be asked of each of many texts, with its language as in `stated`."""
    read = read_many([_LABEL.sub("", text) for text, _ in texts])
    return [_stated(*told, reading) for told, reading in zip(texts, read, strict=True)]


def _stated(text: str, lang: str, reading: Reading) -> Statement:
    sets = reading.sets
    answer = (sets["current"] | sets["held"]) & sets["complement"]
    topic = tuple(sets[n] - answer for n in ("owner", "about", "circumstances", "subject"))
    return Statement(text, "en" if lang == "en" else "zh", reading, topic, frozenset(answer))


def known_item(said: Statement, rarity: Mapping[str, int]) -> str | None:
    """Return its most telling terms in their order; None when fewer than two tell anything."""
    own = [t for t in said.reading.tokens if t.kind in CONTENT and len(t.surface) > 1]
    first = {t.concept: t for t in reversed(own) if t.kind != "person"}
    rare = sorted(first, key=lambda c: (rarity.get(c, 0), c))[:_TELLING]
    chosen = [t.surface for t in own if t.concept in rare and first[t.concept] is t]
    return " ".join(chosen) if len(chosen) >= 2 else None


def value_question(said: Statement) -> str | None:
    """Return the question that its values answer; None for a statement without any."""
    if not said.told or not any(said.topic) or any(t.kind == "word" for t in said.told):
        return None
    text = _CLOSING.sub("", _LABEL.sub("", said.text))
    spans = _spans(text, [t.surface for t in said.told])
    if len(spans) != 1 or spans[0][0] < 2:
        return None
    word = _word(said.told[0], said.lang)
    if said.lang == "zh":
        head = text[: spans[0][0]]
        head = _EVERY.sub("", head) if word == _table("zh")["time"] else head
        return _joined([head, word, text[spans[0][1] :], "？"], "zh")
    copula = _COPULA.search(text)
    if copula and copula.end() <= spans[0][0] + 1:
        subject = _lowered(text[: copula.start()].strip())
        form: str = lexicon("questions")["form"]["value_en"]
        asked = form.format(word=word, topic=subject)
        return asked[0].upper() + asked[1:]
    head = _LINKING.sub("", text[: spans[0][0]])
    return f"{head} {word}?" if head else None


def paraphrase(said: Statement) -> str | None:
    """Return it asked in other words of the same meaning; None where no word has another."""
    asked = [_other(t, said.lang) or t.surface for t in said.about]
    if not any(_other(t, said.lang) for t in said.about):
        return None
    form = lexicon("questions")["form"][f"paraphrase_{said.lang}"]
    return str(form.format(topic=_joined(asked, said.lang)))


def crossed(said: Statement) -> str | None:
    """Return it asked in the other language; None where a word has no translation there."""
    lang = "zh" if said.lang == "en" else "en"
    asked = [_translated(t, lang) for t in said.about]
    known = [w for w in asked if w]
    translated = [t for t, w in zip(said.about, asked, strict=True) if w and w != t.surface]
    if len(known) < len(asked) or not {t for t in translated if t.kind != "person"}:
        return None
    word = _word(said.told[0], lang) if said.told else lexicon("questions")["word"][lang]["other"]
    form = lexicon("questions")["form"][f"crossed_{lang}"]
    return str(form.format(word=word, topic=_joined(known, lang)))


def unknowns(held: frozenset[str], langs: Sequence[str]) -> list[tuple[str, str]]:
    """Return (question, language) of what none of these texts (lower case) has a word of."""
    whole = "\n".join(sorted(held))
    return [
        (entry[lang], lang)
        for entry in lexicon("questions")["unknown"]
        if not any(word in whole for word in entry["words"].split())
        for lang in langs
    ]


def _table(lang: str) -> dict[str, str]:
    words_of: dict[str, str] = lexicon("questions")["word"][lang]
    return words_of


def _word(token: Token, lang: str) -> str:
    table = _table(lang)
    return table.get(
        token.concept.split("=")[0] if "=" in token.concept else "other", table["other"]
    )


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


def _joined(parts: Sequence[str], lang: str) -> str:
    if lang == "en":
        return " ".join(parts)
    return re.sub(r"(?<=[一-鿿：，]) | (?=[一-鿿？，])", "", " ".join(parts)).strip()


def _other(token: Token, lang: str) -> str | None:
    """Another word of the same meaning and language, by the order of the lexicon."""
    if token.kind == "person":
        return None
    others = [w for w in _synonyms().get((token.concept, lang), ()) if w != token.surface.lower()]
    stem = token.surface.lower()[:4]
    return next((w for w in others if not w.startswith(stem)), None)


def _translated(token: Token, lang: str) -> str | None:
    known = _synonyms().get((token.concept, lang), ())
    if known:
        return known[0]
    latin = not _HAN.search(token.surface)
    return token.surface if latin and token.kind in ("name", "value") else None


@cache
def _synonyms() -> dict[tuple[str, str], list[str]]:
    """The words of a concept in each language, as the lexicon lists them."""
    out: dict[tuple[str, str], list[str]] = {}
    for word, (concept, _) in words().items():
        out.setdefault((concept, "zh" if _HAN.search(word) else "en"), []).append(word)
    return out
