"""Readings: what a statement says, taken apart into sets that can be compared by the million.

Each text is read once, in Python; a reading is a dictionary of families (sets of items) and of
marks (numbers). `Readings` holds them as sparse matrices, so that the features of any number of
pairs are products of rows.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from memops.fact import frame, person
from memops.lexicon import lexicon
from memops.vocabulary import CONTENT, Token, spoken, stem

FAMILIES = (
    "tokens", "atoms", "grams", "content", "things", "persons", "qualifiers", "names", "values", "kinds",
    "signed", "turned", "sides", "others", "frames", "filled", "ordered", "head", "subject", "slots", "filled_slots",
    "was", "becomes", "above", "wide", "relations", "alone", "alone_others", "owner", "attributes", "about", "anchors",
    "circumstances", "open", "complement", "held", "numbered", "shapes", "roles", "stated", "named", "current", "counters",
)  # fmt: skip
MARKS = (
    "negations", "shift", "shift_strong", "past", "past_strong", "hypothetical", "quoted", "todo",
    "question", "all", "none", "some", "only", "size", "must", "may", "han", "values_n", "change", "event", "related", "copular", "masked", "latin_open", "han_open",
)  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """One text: its sets by family, and its marks."""

    sets: dict[str, frozenset[str]]
    marks: dict[str, float]
    tokens: tuple[Token, ...]


def read(text: str) -> Reading:
    """Return the reading of one text."""
    plain, tokens, values = spoken(text)
    signs, dropped = _signs(tokens)
    said = [_meant(t) for t in tokens]
    content = [t for t in said if t.kind in CONTENT and t.concept not in dropped]
    concepts = frozenset(i for t in content for i in _items(t))
    named = frozenset(t.concept for t in content if t.kind == "name" or _foreign(t, plain))
    typed = frozenset(f"{v.kind}={v.form}" for v in values if v.kind != "currency") | {
        t.concept for t in content if t.kind == "value"
    }
    was, becomes = _turned(plain, tokens)
    retired = _retired(tokens)
    framed = frame(tokens, was | becomes, frozenset(_opposed(tokens)))
    sets = framed | {
        "tokens": _surface(plain),
        "atoms": _atoms(plain),
        "grams": _grams(plain),
        "content": concepts,
        "things": frozenset(
            i for t in content if t.kind in ("thing", "word", "name") for i in _items(t)
        ),
        "relations": frozenset(t.concept for t in content if t.kind in ("single", "multi")),
        "persons": frozenset(t.concept for t in content if t.kind == "person"),
        "qualifiers": frozenset(t.concept for t in content if t.kind == "qualifier"),
        "names": named,
        "values": typed,
        "kinds": frozenset(item.split("=")[0] for item in typed),
        "signed": frozenset(
            f"{sign}{i}"
            for t, sign in zip(said, signs, strict=True)
            if t in content
            for i in _items(t)
        ),
        "turned": frozenset(
            f"{_FLIP[sign]}{i}"
            for t, sign in zip(said, signs, strict=True)
            if t in content
            for i in _items(t)
        ),
        "sides": _sides(tokens, 0),
        "others": _sides(tokens, 1),
        "frames": _frames(content, False),
        "filled": _frames(content, True),
        "ordered": _ordered(content),
        "head": _subject(tokens),
        "slots": frozenset(s for s, _ in _slots(said)),
        "filled_slots": frozenset(f"{s}={v}" for s, v in _slots(said)),
        "was": was,
        "becomes": becomes,
        "above": frozenset(up for t in content for up in _above().get(t.concept, ())),
        "wide": frozenset(i for t in content for i in (t.concept, *_above().get(t.concept, ()))),
        "stated": frozenset(t.concept for t in content if t.concept not in ("user", "we", "you")),
        "named": typed
        | named
        | frozenset(t.concept for t in content if t.concept.startswith("h:") and person(t)),
        "alone": _sides(tokens, 0, "alone"),
        "alone_others": _sides(tokens, 1, "alone"),
        "held": frozenset(i for i in typed if i not in was and i not in retired),
        "shapes": frozenset(
            re.sub(r"\d+", "9", re.sub(r"[a-z]+", "a", v.form))
            for v in values
            if v.kind in ("ident", "version")
        )
        | frozenset(v.kind for v in values if v.kind in ("url", "email", "phone")),
        "numbered": frozenset(
            f"{v.kind}={v.form}" for v in values if v.kind == "ident" and " " in v.form
        ),
        "counters": frozenset(v.kind for v in values if v.kind == "counter"),
        "current": (framed["open"] | typed) - was - retired,
    }
    return Reading(sets, _marks(plain, tokens, values, content) | {
        "copular": _copular(tokens, framed["subject"]),
        "masked": float("[redacted" in text),
    }, tuple(tokens))


def _copular(tokens: Sequence[Token], subject: frozenset[str]) -> float:
    """1 for "the <attribute> ... is <value>": a subject that names an attribute in lower case."""
    named = any(
        t.concept in subject and t.kind in ("thing", "single", "word", "person") and not t.surface[0].isupper() for t in tokens
    )
    doing = any(
        one.concept == "copula" and two.surface.endswith("ing") and two.surface.islower()
        for one, two in zip(tokens, tokens[1:], strict=False)
    )
    return float(named and not doing and any(t.concept == "copula" for t in tokens))


_FLIP = {"+": "-", "-": "+"}
_LEXICAL_NOT = {"dislike": "like"}
_NEGATING = frozenset({"stopped"})


def _meant(token: Token) -> Token:
    concept = _LEXICAL_NOT.get(token.concept, token.concept)
    return token._replace(concept=concept)


def _items(token: Token) -> list[str]:
    """A word as items: an unknown Chinese run falls into its bigrams, so that parts can match."""
    run = token.concept
    if run.startswith("h:") and len(run) > 4:
        return [f"h:{run[i : i + 2]}" for i in range(2, len(run) - 1)]
    return [run]


def _foreign(token: Token, plain: str) -> bool:
    """A Latin word in a Chinese sentence is a name."""
    return (
        token.kind == "word" and token.surface.isascii() and re.search("[一-鿿]", plain) is not None
    )


def _signs(tokens: Sequence[Token]) -> tuple[list[str], set[str]]:
    """The sign of each token: negated when its clause holds an odd number of negations."""
    odd: dict[int, int] = {}
    for token in tokens:
        if token.kind == "negation" or token.concept in _LEXICAL_NOT or token.concept in _NEGATING:
            odd[token.clause] = odd.get(token.clause, 0) + 1
        if token.concept == "none" and token.kind == "quantifier":
            odd[token.clause] = odd.get(token.clause, 0) + 1
    return ["-" if odd.get(t.clause, 0) % 2 else "+" for t in tokens], set()


def _surface(plain: str) -> frozenset[str]:
    low = plain.lower()
    latin = re.findall(r"[^\W_一-鿿]+(?:['.:/-][^\W_一-鿿]+)*", low)
    runs = re.findall("[一-鿿]+", low)
    return frozenset(latin) | {r[i : i + 2] for r in runs for i in range(max(1, len(r) - 1))}


def _atoms(plain: str) -> frozenset[str]:
    """Single Chinese characters and the stems of other words."""
    low = plain.lower()
    words = re.findall(r"[^\W_一-鿿]+", low)
    return frozenset(f"a:{stem(w)}" for w in words) | {f"a:{c}" for c in re.findall("[一-鿿]", low)}


def _grams(plain: str) -> frozenset[str]:
    low = " ".join(re.findall(r"\w+", plain.lower()))
    n = 2 if re.search("[一-鿿]", low) else 3
    return frozenset(low[i : i + n] for i in range(max(1, len(low) - n + 1)))


def _frames(content: Sequence[Token], filled: bool) -> frozenset[str]:
    """Each token's neighbours, with or without the token between them."""
    row = ["^", *(t.concept for t in content), "$"]
    return frozenset(
        f"{a}|{b if filled else ''}|{c}" for a, b, c in zip(row, row[1:], row[2:], strict=False)
    )


def _ordered(content: Sequence[Token]) -> frozenset[str]:
    row = [t.concept for t in content if t.kind in ("name", "person", "word", "thing", "value")][
        :14
    ]
    return frozenset(f"{a}<{b}" for i, a in enumerate(row) for b in row[i + 1 :] if a != b)


def _subject(tokens: Sequence[Token]) -> frozenset[str]:
    """What stands before the first relation."""
    out: list[str] = []
    for token in tokens:
        if out and (
            token.kind in ("single", "multi", "change", "negation")
            or token.concept in ("copula", "aux")
        ):
            break
        if token.kind in CONTENT:
            out += _items(_meant(token))
    return frozenset(out)


def _slots(said: Sequence[Token]) -> list[tuple[str, str]]:
    """Each value beside the content word that stands nearest to it."""
    solid = [t for t in said if t.kind in CONTENT]
    out = []
    for i, token in enumerate(solid):
        if token.kind == "value":
            kind, _, form = token.concept.partition("=")
            near = [solid[j] for j in (i - 1, i + 1) if 0 <= j < len(solid)]
            out += [(f"{kind}@{n.concept}", form) for n in near if n.kind != "value"]
    return out


@cache
def _above() -> dict[str, tuple[str, ...]]:
    out: dict[str, tuple[str, ...]] = {}
    for above, below in lexicon("conflict")["kind_of"].items():
        for name in below:
            out[name] = (*out.get(name, ()), above)
    return out


@cache
def _pairs(table: str) -> dict[str, list[tuple[int, int]]]:
    """Each word or concept with the pairs of opposites that it belongs to, and its side."""
    out: dict[str, list[tuple[int, int]]] = {}
    for n, pair in enumerate(lexicon("conflict")["opposites"][table]):
        for side, names in enumerate(pair.split("|")):
            for name in names.split():
                out.setdefault(name, []).append((n, side))
    return out


def _names_of(token: Token) -> set[str]:
    known = {
        token.surface.lower(),
        token.concept,
        token.concept[2:] if token.concept[1:2] == ":" else "",
    }
    return known | set(_above().get(token.concept, ()))


def _sides(tokens: Sequence[Token], flip: int, table: str = "pairs") -> frozenset[str]:
    pairs = _pairs(table)
    return frozenset(
        f"{n}:{side ^ flip}"
        for token in tokens
        for name in _names_of(token)
        for n, side in pairs.get(name, ())
    )


def _opposed(tokens: Sequence[Token]) -> set[str]:
    pairs = _pairs("pairs")
    return {t.concept for t in tokens if t.kind == "thing" and _names_of(t) & pairs.keys()}


_FROM_EN = re.compile(
    r"\b(?:from|instead of|rather than|in place of|(?<!took )(?<!take )(?<!takes )over|replac\w+)\s+([\w./+#-]+(?:\s+[\w./+#-]+)?)",
    re.IGNORECASE,
)
_FROM_ZH = re.compile(
    r"(?:从|由)\s*([\w./+#-]+?)\s*(?=换|改|迁|升|降|切|转|变|搬|涨|移|调)|(?:取代|替换|接替|代替|而不是|而非)\s*([\w./+#-]+?)(?=\s|，|。|$|做|的|到|成|为|负责)"
)
_TO = re.compile(
    r"\b(?:to|with|by|now|uses?|stays|became|is)\s+([\w./+#-]+(?:\s+[\w./+#-]+)?)|(?:换成|改成|改为|换到|换回|改用|迁到|搬到|升级到|升到|改到|保持)\s*([\w./+#-]+)",
    re.IGNORECASE,
)


def _turned(plain: str, tokens: Sequence[Token]) -> tuple[frozenset[str], frozenset[str]]:
    """What the text says that it was, and what it says that it becomes."""
    changed = any(t.kind == "change" for t in tokens)
    if not changed:
        return frozenset(), frozenset()
    was = [*_FROM_EN.findall(plain), *(a or b for a, b in _FROM_ZH.findall(plain))]
    now = [a or b for a, b in _TO.findall(plain)]
    return _concepts(was), _concepts(now)


def _retired(tokens: Sequence[Token]) -> frozenset[str]:
    """Values of a clause that only says that they are gone ("gw-07 is retired")."""
    gone = {t.clause for t in tokens if t.concept == "stopped"} - {0}
    return frozenset(t.concept for t in tokens if t.kind == "value" and t.clause in gone)


def _concepts(spans: Sequence[str]) -> frozenset[str]:
    return frozenset(
        i for span in spans for t in spoken(span)[1] if t.kind in CONTENT for i in _items(t)
    )


@cache
def _cue(*names: str) -> tuple[re.Pattern[str], ...]:
    table = lexicon("conflict")[names[0]]
    en = [w for w in table.get(names[1], []) if w.isascii()]
    zh = [w for n in names[1:] for w in table.get(n, []) if not w.isascii()]
    patterns = []
    if en:
        patterns.append(
            re.compile(
                r"\b(?:" + "|".join(map(re.escape, sorted(en, key=len, reverse=True))) + r")(?!\w)",
                re.IGNORECASE,
            )
        )
    if zh:
        patterns.append(re.compile("|".join(map(re.escape, sorted(zh, key=len, reverse=True)))))
    return tuple(patterns)


def _count(plain: str, *names: str) -> float:
    return float(sum(len(p.findall(plain)) for p in _cue(*names)))


_STRONG = re.compile(
    r"\b(?:no longer|any ?more|switched|moves? to|moved|migrated|changed|upgraded|downgraded|replaced?|took over|instead of|from now on|raised|lowered|cut to"
    r"|reduced|increased|used to|gave up|stopped|quit|became|renamed|rescheduled|postponed|called off|is now|are now|now)\b"
    r"|不再|改成|改为|改到|改用|换成|换到|换回|换了|改期|推迟|推到|搬到|迁到|升级到|降到|涨到|调到|变成|转为|挪到|接替|取代|替换|现在|从今|以后|戒了|放弃|取消|停用|改回",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"^\W*(?:(?:user|assistant|i|we)\W+)?(?:reviewed|deployed|wrote|discussed|debugged|fixed|ran|checked|visited|bought|ordered|sent|merged|created|added|removed|"
    r"finished|completed|attended|met|watched|read|went|had|asked|tested|released|published|called|paid|started|opened|closed|done)\b|^\W*(?:和|跟).{0,12}讨论|^\W*(?:评审了|写了|修复了|部署了|排查|讨论了|参加了|去了|买了|完成)|已部署|已完成|已发布",
    re.IGNORECASE,
)


def _marks(
    plain: str, tokens: Sequence[Token], values: Sequence[Any], content: Sequence[Token]
) -> dict[str, float]:
    quant = {
        q: float(sum(t.concept == q and t.kind == "quantifier" for t in tokens))
        for q in ("all", "none", "some", "only")
    }
    articles = {"every", "each", "any", "每个", "所有", "全部", "全体", "全员", "both"}
    quant["all"] += sum(t.surface.lower() in articles and t.kind == "function" for t in tokens)
    return {
        "negations": float(
            sum(
                t.kind == "negation" or t.concept in _LEXICAL_NOT or t.concept in _NEGATING
                for t in tokens
            )
        ),
        "shift": _count(plain, "shift", "en", "zh"),
        "shift_strong": float(len(_STRONG.findall(plain))),
        "past": _count(plain, "past", "en", "zh"),
        "past_strong": _count(plain, "past", "strong_en", "strong_zh"),
        "hypothetical": _count(plain, "hypothetical", "en", "zh"),
        "quoted": _count(plain, "quoted", "en", "zh"),
        "todo": _count(plain, "todo", "en", "zh"),
        "question": float(bool(re.search(r"[?？]\s*$|吗\s*$", plain))),
        **quant,
        "size": float(len(content)),
        "must": _count(plain, "modal", "must"),
        "may": _count(plain, "modal", "may"),
        "han": float(bool(re.search("[一-鿿]", plain))),
        "values_n": float(len(values)),
        "change": float(sum(t.kind == "change" for t in tokens)),
        "event": float(bool(_EVENT.search(plain))),
        "related": float(
            any(t.kind in ("single", "multi", "change") or t.concept == "copula" for t in tokens)
            or ":" in plain
        ),
        "latin_open": float(sum(t.concept.startswith("w:") for t in content)),
        "han_open": float(sum(t.concept.startswith("h:") for t in content)),
    }
