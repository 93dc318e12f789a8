"""What closes a task: the cheap looks that come first must pass over nothing."""

import random
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from memops.context import Context
from memops.hygiene import closing
from memops.hygiene.tasks import open_tasks
from memops.language.lexicon import lexicon
from memops.language.text import folded, searchable
from memops.language.vocabulary import stem
from memops.schema import from_rows

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SUFFIXES = [
    "", "s", "es", "ed", "ing", "ly", "y", "ies", "ied", "ier", "ying", "ness", "ful", "fully",
    "able", "ably", "ability", "ible", "ibility", "ate", "ation", "ational", "ative", "ator",
    "ize", "ization", "ic", "ical", "icity", "al", "ally", "ality", "ous", "ously", "ive", "ively",
    "iveness", "ivity", "ence", "ency", "ance", "ancy", "ently", "ment", "ogy", "ogist", "e",
    "eed", "eedly", "bly", "tional", "sses",
]  # fmt: skip


def test_every_word_begins_with_what_its_stem_is_looked_for_by():
    draw = random.Random(5)
    heads = [w for table in lexicon("tasks")["deeds"].values() for w in table if w.isascii()]
    heads += ["".join(draw.choices("aeiouybcdlmnprstv", k=draw.randint(1, 6))) for _ in range(150)]
    words = {head + suffix for head in heads for suffix in SUFFIXES}
    assert len(words) > 5000
    assert not {w for w in words if not w.startswith(closing._openings([stem(w)])[0])}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The ＣＡＢＩＮＥＴ is empty", "cabinet"),
        ("第③号仓库", "3"),
        ("ﬁle it under ŁÓDŹ", "łódź"),
        ("已完成：把⽂件寄出", "文件"),
        ("nothing but ASCII, and 汉字。", "ascii"),
    ],
)
def test_a_folded_word_is_found_in_a_searchable_text(text, word):
    texts = pl.Series([text])
    assert texts.to_frame("t").select(folded(pl.col("t")).str.contains(word, literal=True)).item()
    assert searchable(texts).str.contains_any([word], ascii_case_insensitive=True).all()


def test_the_first_looks_change_nothing(monkeypatch):
    draw = random.Random(3)
    things = [
        "kitchen tap",
        "db-03",
        "书房",
        "invoices of Łódź",
        "护照",
        "ﬁle 17",
        "the 3 cabinets",
    ]
    opens = ["TODO: clean ", "待办：清理", "TODO: renew ", "Task: translate ", "待办：续期"]
    done = ["Done: {}", "{} was cleaned ✅", "已清理{}", "{}已续期", "{} were all translated (done)",
            "I cleaned {} and {}", "{} ＷＡＳ ＲＥＮＥＷＥＤ", "{} still to be cleaned", "ok"]  # fmt: skip
    rows = [
        {
            "id": f"{n:04}",
            "kind": "fact",
            "scope": draw.choice("ab"),
            "text": draw.choice(opens) + draw.choice(things)
            if draw.random() < 0.3
            else draw.choice(done).format(draw.choice(things), draw.choice(things)),
            "created_at": NOW - timedelta(days=draw.randint(1, 90)),
        }
        for n in range(600)
    ]
    records = from_rows(rows)
    quick = closing.closed(open_tasks(records), records, Context(now=NOW))
    whole = lambda told, telling, deeds: told.with_columns(plain=folded(pl.col("text")))
    monkeypatch.setattr(closing, "_may_close", whole)
    every = lambda named: named.filter(~pl.col("deed")).select("id", "term")
    monkeypatch.setattr(closing, "_telling", every)
    assert quick.height > 50
    assert closing.closed(open_tasks(records), records, Context(now=NOW)).equals(quick)
