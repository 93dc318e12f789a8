"""Made-up notes for benchmarks: half English, two fifths Chinese, a tenth mixed.

A tenth of them repeat an earlier one with an edit, a twentieth contradict an earlier one; the rest
are strangers to each other but share words as people's notes do (Zipf and Mandelbrot), and one in six is a short
fact of one form ("The <thing> <place> runs on <value>").
"""

from datetime import UTC, datetime

import numpy as np
import polars as pl

from memops.schema import from_rows

_ONSETS = [
    "b",
    "br",
    "c",
    "ch",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gr",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "qu",
    "r",
    "s",
    "sh",
    "st",
    "t",
    "th",
    "tr",
    "v",
    "w",
    "z",
]
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "oa", "ou"]
_CODAS = [
    "b",
    "ck",
    "d",
    "ft",
    "g",
    "l",
    "m",
    "nd",
    "nt",
    "p",
    "r",
    "rk",
    "s",
    "sh",
    "st",
    "t",
    "x",
]
_HAN = "".join(chr(0x4E00 + 37 * i % 6000) for i in range(3000))
_FORMS = (
    ("The {} of the {} runs on port {}", "{} 的 {} 用端口 {}"),
    ("{} prefers {} over everything, {} times a week", "{} 最喜欢 {}，每周 {} 次"),
    ("The {} budget for {} is {} euros", "{} 的 {} 预算是 {} 元"),
)


def texts(n, seed=0):
    """Return n notes."""
    rng = np.random.default_rng(seed)
    words = _english(rng, 30_000)
    rank = lambda size, most: (2.7 * ((most / 2.7 + 1) ** rng.random(size) - 1)).astype(int)  # noqa: E731
    han = np.array(list(_HAN))
    lengths, language = rng.integers(8, 45, n), rng.random(n)
    out = []
    for i in range(n):
        kind = rng.random()
        if i > 50 and kind < 0.15:
            out.append(_again(out[rng.integers(i)], rng, words, contradicts=kind < 0.05))
        elif kind < 0.32:
            form = _FORMS[rng.integers(3)][int(language[i] > 0.6)]
            out.append(form.format(*words[rng.integers(0, 30_000, 2)], rng.integers(10, 9999)))
        else:
            out.append(_note(language[i], int(lengths[i]), rank, words, han))
    return out


def store(n, seed=0):
    """Return n records of one scope, a minute apart."""
    return recorded(pl.DataFrame({"text": texts(n, seed)}))


def recorded(said):
    """Return what a table says (text, perhaps scope) as records, a minute apart."""
    begin = datetime(2024, 1, 1, tzinfo=UTC)
    one = from_rows([{"id": "x", "text": "x", "kind": "fact"}])
    frame = said.with_row_index("n").with_columns(
        id=pl.col("n").cast(pl.String).str.zfill(8),
        created_at=pl.lit(begin).cast(one.schema["created_at"]) + pl.duration(minutes=pl.col("n")),
    )
    return one.drop("id", "created_at", *said.columns).join(frame, how="cross").select(one.columns)


def _english(rng, n):
    part = lambda choices: np.array(choices)[rng.integers(0, len(choices), n)]  # noqa: E731
    syllable = lambda: np.char.add(np.char.add(part(_ONSETS), part(_VOWELS)), part(_CODAS))  # noqa: E731
    return np.char.add(syllable(), syllable())


def _note(language, length, rank, words, han):
    english = " ".join(words[rank(length, len(words))])
    if language < 0.5:
        return english
    chinese = "".join(han[rank(length * 2, len(han))])
    return chinese if language < 0.9 else english[: len(english) // 2] + " " + chinese[:length]


def _again(text, rng, words, contradicts):
    if contradicts:
        for number in ("0", "1", "2", "3", "4", "5", "6", "7"):
            if number in text:
                return text.replace(number, str((int(number) + 3) % 10))
        return "不 " + text if text[0] > "z" else "Not " + text
    at = int(rng.integers(len(text)))
    return f"{text[:at]} {words[rng.integers(len(words))]} {text[at:]}"
