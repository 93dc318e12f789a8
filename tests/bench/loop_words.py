"""What the plain loop reads of a record's words: tasks, deeds, what is grave or done."""

import re
from functools import cache

from memops.hygiene.closing import _deeds
from memops.hygiene.dues import folded
from memops.hygiene.impact import _patterns
from memops.hygiene.tasks import _task_patterns, any_of
from memops.language.lexicon import lexicon
from memops.language.vocabulary import stem

HAN = "\u3400-\u4dbf\u4e00-\u9fff"


def task(row):
    return row["kind"] not in ("session", "summary") and opens_as_task(row["text"], row["extra"])


@cache
def opens_as_task(text, extra):
    opens, around = patterns()["task"]
    return bool(opens.search(text) or around.search(extra))


def grave(row):
    return any(p.search(row["text"]) for p in patterns()["impact"])


def ticked(row):
    text = folded(row["text"])
    return any(p.search(text) for p in patterns()["ticked"])


def marked(row):
    return bool(patterns()["lead"].search(folded(row["text"]))) or ticked(row)


def says_done(row):
    return done_by_its_words(row["text"])


@cache
def done_by_its_words(text):
    if marked({"text": text}):
        return True
    text = folded(text)
    if not any(p.search(text) for p in patterns()["said"]):
        return False
    clear = patterns()["clear"].sub("", text)
    return not any(p.search(clear) for p in patterns()["still"])


@cache
def terms(text):
    """Stems, pairs of Han characters and deeds that a text names."""
    latin, wide = _deeds()
    known, text = patterns(), patterns()["head"].sub(" ", text, count=1)
    found = {wide[word] for word in known["wide"].findall(text)}
    for run in known["runs"].findall(known["cut"].sub(" ", text)):
        if re.match(f"[{HAN}]", run):
            found |= {run[i : i + 2] for i in range(len(run) - 1)}
            continue
        word = stemmed(run)
        if word not in known["idle"]:
            found.add(known["families"].get(word, word))
    return found


@cache
def stemmed(word):
    return stem(word)


@cache
def patterns():
    table = lexicon("tasks")
    words, (latin, wide) = table["done"], _deeds()
    marks, signs = any_of(words["marks"]), any_of(words["signs"])
    heads = any_of([*table["task"]["opening"], *words["marks"]])
    listed = {
        "task": _task_patterns(),
        "impact": _patterns().values(),
        "ticked": (rf"^\s*(?:{signs})|(?:{signs})\s*$", rf"[(（\[]\s*(?:{marks})\s*[)）\]]\W*$"),
        "said": (
            r"^\W*(?:(?:i|we|user|the user)\s+)?[a-z]+ed\b",
            rf"\b(?:{any_of([*words['said_en'], *words['past_en']])})\b",
            any_of(words["said_zh"]),
        ),
        "still": (
            rf"\b(?:{any_of(words['open_en'])})\b",
            any_of(words["open_zh"]),
            r"[?？]\s*$",
        ),
    }
    single = {
        "lead": rf"^\s*(?:{marks})\s*[:：]",
        "clear": any_of(words["not_open_zh"]),
        "head": rf"^\s*(?:{heads})\s*[:：]",
        "wide": any_of(wide),
        "cut": f"{any_of(wide)}|{any_of(table['idle']['zh'])}",
        "runs": rf"[{HAN}]+|[^\W_{HAN}]+",
    }
    made = {name: [re.compile(p) for p in given] for name, given in listed.items()}
    made |= {name: re.compile(p) for name, p in single.items()}
    made["idle"] = {stem(word) for word in table["idle"]["en"]}
    made["families"] = {stem(word): family for word, family in latin.items()}
    return made
