"""Containment: what stands whole in a fuller text, beside a comparison of all with all."""

from datetime import UTC, datetime

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from memops.context import Context
from memops.judge.containment import _read, contained

CLAUSES = ["The kettle is red", "the KETTLE is red", "Ｔhe kettle is red", "the café", "the cafe",
           "#1", "1", "+", "水壶是红的", "水壶 是红的", "1000 lamps", "-1000 lamps"]  # fmt: skip
ENDS = [". ", "! ", "。", "\n", ", ", " (see the note). ", "。（见上）"]
_text = st.lists(st.tuples(st.sampled_from(CLAUSES), st.sampled_from(ENDS)), min_size=1, max_size=4)
_texts = st.lists(st.tuples(st.sampled_from("xy"), _text.map(lambda p: "".join(map("".join, p)))))


def naive(rows):
    read = _read([text for _, text in rows])
    held = {}
    for n, (scope, text) in enumerate(rows):
        fuller = [
            (-len(other), k)
            for k, (there, other) in enumerate(rows)
            if there == scope and len(other) > len(text) and read[text].all <= read[other].begun
        ]
        held |= {n: min(fuller)[1]} if fuller else {}
    return sorted((f"r{n:02}", f"r{k:02}") for n, k in held.items() if k not in held)


@settings(deadline=None)
@given(_texts.filter(lambda rows: len(rows) < 20))
def test_what_stands_whole_in_a_fuller_text_is_found_without_comparing_all(rows):
    table = [{"id": f"r{n:02}", "scope": s, "text": t} for n, (s, t) in enumerate(rows)]
    schema = dict.fromkeys(("id", "scope", "text"), pl.String)
    found = contained(pl.DataFrame(table, schema), Context(now=datetime(2026, 6, 1, tzinfo=UTC)))
    assert found.rows() == naive(rows)
