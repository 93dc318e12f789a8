"""The patterns of extraction: sound, in bounded time on hostile lines, tiling every text."""

import itertools
import re
import time

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memops.extract import modality, read
from memops.extract.clauses import clauses
from memops.extract.entities import _hits
from memops.extract.grammar import by_script, says, tells
from memops.language.lexicon import lexicon
from memops.policy import Policy
from tests.wordings import SETS, wordings


def test_no_pattern_is_broken():
    for name in ("extract", "extract_noise", "extract_slots"):
        assert re.findall(r"[\x00-\x08]", repr(lexicon(name))) == []


HOSTILE = [
    "我" * 100_000,
    "a" * 100_000,
    "我叫" * 50_000,
    "if " * 33_000,
    "," * 100_000,
    "1" * 100_000,
    "@" * 100_000,
    "a@" * 50_000,
    "\u200b" * 100_000,
    "🙂" * 50_000,
    "\x00" * 100_000,
    "先再" * 50_000,
    "my name is " * 9_000,
    "138-" * 25_000,
    "((((" * 25_000,
    "不不不喜欢" * 20_000,
    "\n" * 100_000,
]


def test_hostile_lines_take_bounded_time():
    started = time.process_time()
    read(pl.DataFrame({"text": HOSTILE}), Policy())
    assert time.process_time() - started < 20


def patterns_used(monkeypatch):
    """Every pattern that reading notes hands to polars, and every one that it hands to Python."""
    ours, python = set(), set()
    space = type(pl.col("x").str)
    for name in ("contains", "extract", "extract_all", "extract_groups", "find", "count_matches", "replace", "replace_all"):  # fmt: skip
        kept = getattr(space, name)

        def noted(self, pattern, *args, _kept=kept, **kwargs):
            if isinstance(pattern, str) and not kwargs.get("literal"):
                ours.add(pattern)
            return _kept(self, pattern, *args, **kwargs)

        monkeypatch.setattr(space, name, noted)
    compiled = re._compile

    def seen(pattern, flags):
        python.add((pattern, int(flags)) if isinstance(pattern, str) else pattern)
        return compiled(pattern, flags)

    monkeypatch.setattr(re, "_compile", seen)
    for name in ("blind_c", "blind_d"):
        read(pl.DataFrame({"text": [text for _, _, text in wordings(name)]}), Policy())
    monkeypatch.undo()
    return sorted(ours), [p if isinstance(p, re.Pattern) else re.compile(*p) for p in python]


@pytest.mark.slow
def test_hostile_lines_take_each_pattern_bounded_time(monkeypatch):
    ours, python = patterns_used(monkeypatch)
    assert len(ours) > 50 and len(python) > 5
    lines = pl.Series(HOSTILE)
    for pattern in ours:
        begun = time.process_time()
        lines.str.contains(pattern)
        assert time.process_time() - begun < 2, pattern
    clause = Policy().extract.clause  # Python's patterns see values of one clause, no longer ones
    for pattern in python:
        begun = time.process_time()
        for line in HOSTILE:
            pattern.search(line[:clause])
        assert time.process_time() - begun < 0.5, pattern.pattern


@given(st.text(max_size=200))
@settings(deadline=None, max_examples=60)
def test_clauses_tile_the_text_in_order(text):
    parts = clauses(pl.Series([text]), 1000)
    spans = parts.select("start", "end", "raw").rows()
    assert all(text[start:end] == raw for start, end, raw in spans)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))


def test_a_cue_tells_by_script_what_it_says():
    texts = pl.Series([text for name in SETS for _, _, text in wordings(name)])
    table = clauses(texts, 1000).select("text").with_columns(by_script())
    for cue in modality._CUES:
        assert table.select(tells(cue) == says(cue)).to_series().all(), cue


def test_an_anchor_stands_wherever_its_slot_matches():
    texts = [text for name in SETS for _, _, text in wordings(name)]
    table = pl.DataFrame({"text": texts, "unit": pl.Series(range(len(texts)), dtype=pl.UInt32)})
    table = table.with_columns(said=True, about=True)
    anchored = [slot for slot in lexicon("extract_slots")["slot"] if "anchor" in slot]
    assert anchored
    for slot in anchored:
        bare = {name: value for name, value in slot.items() if name != "anchor"}
        assert _hits(table, slot).equals(_hits(table, bare))
