"""Keeping: tables beside their files, words that stand for others, and threads that keep expressions."""

import os
import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops import files
from memops.language.keeping import beside, thread_of, toml
from memops.language.packed import packed, unpacked
from memops.language.prefilter import least
from memops.language.text import sought, wordlist
from memops.safety.secrets_labels import fewest

WORDS = st.lists(st.text("abcé", min_size=1, max_size=4), max_size=8)


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    path = tmp_path / "words.toml"
    path.write_text("words = ['a', 'b']\nleast = -inf\n")
    return path


def test_what_is_made_of_a_file_is_made_once_until_the_file_or_the_key_is_another(source):
    made = []

    def make():
        made.append(source.read_text())
        return {"n": len(made), "words": ("a", ["b", None, 0.5])}

    first = beside("words", [source], make)
    assert beside("words", [source], make) == first and len(made) == 1
    assert beside("words", [source], make, "key")["n"] == 2
    source.write_text("words = []\n")
    assert beside("words", [source], make, "key")["n"] == 3
    assert beside("others", [source], make)["n"] == 4  # each name has its own


@pytest.mark.parametrize("damage", [b"", b"\xff\xff", b"i\x01\x00\x00\x00"])
def test_a_kept_table_that_is_damaged_is_made_again(source, damage):
    said = toml(source)
    [kept] = (source.parent / "__pycache__").iterdir()
    kept.write_bytes(damage)
    assert toml(source) == said == {"words": ["a", "b"], "least": float("-inf")}
    assert kept.read_bytes() != damage


def test_a_kept_table_with_one_byte_changed_is_made_again(source):
    said = toml(source)
    [kept] = (source.parent / "__pycache__").iterdir()
    data = kept.read_bytes()
    for at in range(len(data)):
        kept.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert toml(source) == said


def test_where_nothing_may_be_written_a_table_is_made_each_time(source, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert toml(source) == toml(source)
    assert not (source.parent / "__pycache__").exists()


def test_what_cannot_be_kept_is_made_each_time(source):
    assert beside("odd", [source], object) is not beside("odd", [source], object)


@given(WORDS, st.text("abcé ", max_size=12))
def test_few_words_stand_for_those_that_begin_or_end_with_them(words, text):
    held = any(word in text for word in words)
    assert held == any(word in text for word in least(words))
    folded = text.encode().lower().decode()
    assert held == any(word in folded for word in fewest(words))
    assert {word.lower() for word in fewest(words)} <= {*fewest(words)}


@given(WORDS, st.lists(st.none() | st.text("abcABCéÉ ", max_size=12), max_size=4))
def test_words_that_may_stand_in_few_texts_find_what_all_would(words, texts):
    held = pl.Series(texts, dtype=pl.String)
    found = [
        held.str.extract_many(some, ascii_case_insensitive=True, overlapping=True).to_list()
        for some in (wordlist(words), sought(words, held))
    ]
    assert found[0] == found[1]


def test_an_expression_keeps_its_thread_and_no_thread_has_more_than_polars_keeps():
    named = [f"an expression {n}" for n in range(200)]
    threads = [thread_of(one) for one in named]
    assert [thread_of(one) for one in named] == threads
    assert max(threads.count(one) for one in threads) <= 24


def test_a_file_that_need_not_last_is_whole_and_ours_alone(tmp_path):
    files.keep(tmp_path / "kept", b"data")
    assert (tmp_path / "kept").read_bytes() == b"data"
    assert os.listdir(tmp_path) == ["kept"]  # noqa: PTH208
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o600


@given(st.binary(max_size=60))
def test_what_was_packed_comes_out_as_it_was(data):
    assert unpacked(packed(data)) == data
