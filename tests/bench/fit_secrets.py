"""Fit the model of `memops.safety.secrets_fitted` on labelled texts, and print what it reaches.

usage: python -m tests.bench.fit_secrets [--write]

It learns from evals/secrets (texts of several writers, with secrets or with none) and from
ordinary text that holds none: the notes and pairs of evals, the project's pages and the descriptions
of the installed packages. Figures are of writers in groups, each by a model that has seen none of its group.
"""

import itertools
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from memops.policy.safety import Secrets
from memops.safety import secrets, secrets_fitted
from memops.safety.secrets_fitted import BITS, Model, hashed, stored
from memops.safety.secrets_sequences import HAN
from memops.safety.secrets_signs import (
    FIRST,
    LATER,
    MIDDLE,
    NEAR,
    NEXT,
    Passage,
    Signs,
    Words,
    own,
    tokens,
    whole,
)
from memops.safety.secrets_values import Value

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "data" / "lexicons" / "secrets_fitted.toml"
CORPUS = ROOT / "evals" / "secrets"
STRENGTH, SURE = 0.3, 0.7
ORDINARY, TOUCHING = 2.0, 0.3
SELDOM, WORTH, REACHED = 3, 0.01, 0.005
"""What is added to the ordinary texts that hold a word, the least texts with a secret that it reaches
for each of them, and the share of these texts that may stand below the floor.
"""
FOLDS = 6
"""Weights of a value in ordinary text, and of one that is a part of a secret, or more than it."""
_HELD = re.compile(r"⟦(?P<made>[^⟧]+)⟧")
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


class Text(NamedTuple):
    """A text, and where its secrets stand."""

    text: str
    spans: tuple[tuple[int, int], ...]


class Cases(NamedTuple):
    """Values: their hashed signs, whether each is a secret, and what it weighs."""

    signs: Any
    secret: Any
    weight: Any


def assembled(row: dict[str, Any], rng: random.Random) -> Text:
    """Return a text with its secrets put together: no key stands in a file.

    In brackets stand its characters: a and A letters that can be said, x and X any, h those of
    hexadecimal numbers, 0 a digit, each of them behind a backslash itself, others themselves.
    """
    text, spans, last = "", list[tuple[int, int]](), 0
    for held in _HELD.finditer(row["text"]):
        text += row["text"][last : held.start()]
        value, last = _filled(held["made"], rng), held.end()
        spans.append((len(text), len(text) + len(value)))
        text += value
    return Text(text + row["text"][last:], tuple(spans))


def _filled(made: str, rng: random.Random) -> str:
    out, vowel, kept = [], False, False
    for char in made:
        if kept or char not in "aAxXh0\\":
            out.append(char)
            kept, vowel = False, False
        elif char == "\\":
            kept = True
        elif char in "aA":
            letter = rng.choice(_VOWELS if vowel else _CONSONANTS)
            out.append(letter if char == "a" else letter.upper())
            vowel = not vowel
        else:
            alphabet = {"x": "abcdefghijkmnpqrstuvwxyz", "h": "0123456789abcdef", "0": "0123456789"}
            out.append(rng.choice(alphabet.get(char, "ABCDEFGHJKLMNPQRSTUVWXYZ")))
    return "".join(out)


def corpus() -> dict[str, list[Text]]:
    """Return the texts of each writer."""
    found = {}
    for path in sorted(CORPUS.glob("*.jsonl")):
        rng = random.Random(path.stem)
        lines = path.read_text(encoding="utf-8").splitlines()
        found[path.stem] = [assembled(json.loads(line), rng) for line in lines]
    return found


def ordinary() -> list[Text]:
    """Return texts that hold no secret as far as shapes tell."""
    rows = [json.loads(line) for path in sorted((ROOT / "evals").glob("[np]*/**/*.jsonl"))
            for line in path.read_text(encoding="utf-8").splitlines()]  # fmt: skip
    texts = [row[name] for row in rows for name in ("note", "a", "b") if name in row]
    pages = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("docs/*.md"))]
    for package in sorted(metadata.distributions(), key=lambda p: str(p.metadata["Name"])):
        pages.append(str(package.metadata.get_payload() or ""))
    texts += [part[:1500] for page in pages for part in re.split(r"\n\s*\n", page)]
    series = pl.Series([text for text in dict.fromkeys(texts) if len(text) > 8], dtype=pl.String)
    held = {*secrets.found(series, Secrets(off=["phone", "told"]))["row"]}
    return [Text(text, ()) for row, text in enumerate(series) if row not in held]


def opening(texts: list[Text], plain: list[Text]) -> list[str]:
    """Return words that tell of secrets and are rare in ordinary text, chosen one after another.

    Each is the one that the most texts not yet reached hold, for each ordinary text that holds it.
    """
    common = Counter(clue for text, _ in plain for clue in _clues(text, ()))
    held: dict[str, set[int]] = {}
    for row, (text, spans) in enumerate(texts):
        for clue in _clues(text, spans) if spans else ():
            held.setdefault(clue, set()).add(row)
    held = {clue: rows for clue, rows in sorted(held.items()) if len(rows) > 1}
    chosen, left = [], {row for row, (_, spans) in enumerate(texts) if spans}
    while held:
        worth = {clue: len(rows & left) / (common[clue] + SELDOM) for clue, rows in held.items()}
        best = max(worth, key=lambda clue: worth[clue])
        if worth[best] < WORTH or len(held[best] & left) < 2:
            break
        chosen.append(best)
        left -= held.pop(best)
    return sorted(chosen)


def _clues(text: str, spans: tuple[tuple[int, int], ...]) -> set[str]:
    """The words and pairs of characters by which a text tells of the secrets in it."""
    ends = [0, *(at for span in spans for at in span), len(text)]
    parts = [text[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True)]
    words = [word for part in parts for word in tokens(part)]
    found = {word for word in words if len(word) > (2 if word.isascii() else 1)}
    return found | {
        a + b for a, b in itertools.pairwise(words)
        if len(a + b) == 2 and (a + b).isalpha() and max(a, b) > HAN[0]
    }  # fmt: skip


def weighed(text: str) -> Iterator[tuple[Value, set[Signs], list[Words]]]:
    """Yield every value of a passage with its signs, and the words that tell of it."""
    passage = Passage(text, tokens(text))
    for value, first, last in passage.values(opened=True):
        kind, signs = own(text[value.start : value.end], value.how)
        beside = around(passage.words, first, last)
        yield value, signs | passage.beside(value, kind), beside + whole(text, passage.words)


def around(words: Sequence[str], first: int, last: int) -> list[Words]:
    """Return the words before a value, nearest first, and those after it."""
    before, after = words[max(0, first - MIDDLE) : first][::-1], words[last : last + LATER]
    return [
        *zip(FIRST, zip(before), strict=False), ("near", {*before[:NEAR]}),
        *zip(NEXT, zip(after), strict=False), ("soon", {*after[:NEAR]}),
        ("middle", {*before[NEAR:]}), ("later", {*after[NEAR:]}),
    ]  # fmt: skip


def spelt(signs: Iterable[Signs], words: Iterable[Words]) -> set[str]:
    """Return signs one by one, those of words spelt out."""
    said = {f"{place}={word}" for place, some in words for word in some}
    return said.union(*signs)


def cases(texts: list[Text]) -> Cases:
    """Return every value of texts as a case."""
    places, ends, secret, weight = [], [0], [], []
    for text, spans in texts:
        cores = [_core(text, span) for span in spans]
        for value, signs, words in weighed(text):
            here = _core(text, (value.start, value.end))
            places += sorted({*map(hashed, spelt(signs, words))})
            ends.append(len(places))
            secret.append(here in cores)
            touching = any(here[0] < core[1] and core[0] < here[1] for core in cores)
            weight.append(TOUCHING if touching and here not in cores else 1.0)
    ones = np.ones(len(places), np.float32)
    table = sparse.csr_matrix((ones, places, ends), (len(secret), 1 << BITS))
    return Cases(table, np.array(secret), np.array(weight))


def _core(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """A span from its first letter or digit to its last."""
    inside = [at for at in range(*span) if text[at].isalnum()] or [span[0]]
    return inside[0], inside[-1] + 1


def fit(given: list[Cases], texts: list[Text], plain: list[Text]) -> dict[str, object]:
    """Return a model fitted to cases, and to the texts with a secret that they are of, as it is stored."""
    model = LogisticRegression(C=STRENGTH, max_iter=1000, tol=1e-6)
    model.fit(
        sparse.vstack([case.signs for case in given]),
        np.concatenate([case.secret for case in given]),
        np.concatenate([case.weight for case in given]),
    )
    table = stored(model.coef_[0], float(model.intercept_[0]), SURE)
    model = Model(table)
    told = [model.told(whole(text, tokens(text))) for text, spans in texts if spans]
    floor = float(np.quantile(told, REACHED, method="lower"))
    return table | {"floor": floor, "opening": opening(texts, plain)}


def reached(texts: list[Text]) -> tuple[int, int, int, int]:
    """Return secrets masked whole, secrets, texts without one that are touched, and such texts."""
    found = secrets.found(pl.Series([text for text, _ in texts]))
    spans: dict[int, set[int]] = {}
    for row, start, end, _ in found.iter_rows():
        spans.setdefault(row, set()).update(range(start, end))
    held = [(row, _core(text, span)) for row, (text, spans) in enumerate(texts) for span in spans]
    whole = sum(spans.get(row, set()).issuperset(range(*core)) for row, core in held)
    free = [row for row, text in enumerate(texts) if not text.spans]
    return whole, len(held), sum(row in spans for row in free), len(free)


def main(argv: list[str]) -> None:
    """Print figures of writers left out; write the model with --write."""
    texts, plain = corpus(), ordinary()
    given = {name: cases(some) for name, some in texts.items()}
    usual = cases(plain)
    usual = usual._replace(weight=usual.weight * ORDINARY)

    def fitted(names: list[str]) -> dict[str, object]:
        known = [text for name in names for text in texts[name]]
        return fit([*(given[name] for name in names), usual], known, plain)

    if "--write" in argv:
        TABLE.write_text(written(fitted([*texts])), encoding="utf-8")
        print(f"{TABLE.stat().st_size} bytes")
    total = np.zeros(4, int)
    for nth in range(FOLDS):
        left = [*texts][nth::FOLDS]
        table = fitted([name for name in texts if name not in left])
        with patch.object(secrets_fitted, "_model", lambda table=table: Model(table)):
            for name in left:
                told = reached(texts[name])
                total += told
                print(name, *told, flush=True)
    print(f"masked {total[0] / total[1]:.3f} touched {total[2] / total[3]:.4f}")


def written(table: dict[str, object]) -> str:
    """Return a model as TOML."""
    head = "# Weights of memops.safety.secrets_fitted, made by `python -m tests.bench.fit_secrets --write`.\n"
    lines = [f"{name} = {table[name]}" for name in ("scale", "bias", "sure", "floor")]
    lines.append(f"opening = {json.dumps(table['opening'], ensure_ascii=False)}")
    return "\n".join([head, *lines, f"weights = '''{table['weights']}'''", ""])


if __name__ == "__main__":
    main(sys.argv[1:])
