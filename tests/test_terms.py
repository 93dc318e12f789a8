import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memops.judge.candidates.termsets import tagged, untagged
from memops.language.codes import code_of, codes
from memops.language.text import tokens
from memops.ordered import place_in

TEXTS = st.lists(st.text("ab c's1京都大学 .!\nÄＡé", max_size=12), max_size=6)


@settings(deadline=None, max_examples=80)
@given(TEXTS, st.booleans())
def test_codes_are_the_tokens_of_the_token_table(written, unigrams):
    said = pl.Series("text", written, dtype=pl.String)
    table = tokens(said, unigrams)
    known = table["token"].unique().to_list()
    name = dict(zip(code_of(known).tolist(), known, strict=True))
    found = codes(said, unigrams)
    assert sorted(
        (r, name[c]) for r, c in zip(found.rows.tolist(), found.codes.tolist(), strict=True)
    ) == sorted(table.select("row", "token").iter_rows())


def test_a_code_is_the_same_on_every_machine_and_knows_its_word_without_s():
    found = codes(pl.Series(["keys 数据库 库"]), unigrams=True)
    assert found.codes.tolist()[0] == 3565744015117762631
    assert found.bare.tolist()[0] == int(code_of(["key"])[0])
    assert found.kind.tolist() == [0, 2, 1, 1, 3, 3, 3]


@pytest.mark.parametrize("size", [3, 63, 64, 65, 66, 300, 4096, 4097])
def test_a_long_word_has_the_code_that_its_letters_make(size):
    said = [("ab" * size)[: size - 1] + "s", ("ab" * size)[: size - 1]]
    found, whole = codes(pl.Series(said)), min(size, 4096)
    assert found.codes.tolist() == [spelt(said[0][:whole]), spelt(said[1])]
    assert found.bare.tolist() == [spelt(said[1]) if size <= 4096 else 0, 0]


def spelt(word):
    code = 0
    for letter in word:
        code = (code * 0x9E3779B97F4A7C15 + ord(letter)) % (1 << 64)
    code = (code ^ code >> 32) * 0xD6E8FEB86659FD93 % (1 << 64)
    return code ^ code >> 29


WHOLE = (1 << 64) - 1
NUMBERS = st.integers(0, 40) | st.integers(0, WHOLE) | st.integers(WHOLE - 9, WHOLE)


@settings(deadline=None, max_examples=100)
@given(st.sets(NUMBERS, max_size=40), st.lists(NUMBERS, max_size=20))
def test_a_code_is_found_where_a_search_finds_it_however_codes_are_spread(listed, asked):
    held = np.array(sorted(listed), np.uint64)
    for wanted in (np.array(asked, np.uint64), held):
        assert place_in(held, wanted).tolist() == np.searchsorted(held, wanted).tolist()


def term_sets(found, scopes):
    return tagged(untagged(found, len(scopes)), scopes)


def test_terms_are_concepts_across_languages_and_grammar_is_none():
    said = pl.Series(["用户不喜欢喝咖啡", "The user likes coffee", "keys", "key"])
    rows, items = term_sets(codes(said, unigrams=True), pl.Series(["a"] * 4))
    one, two, three, four = (set(items[rows == n].tolist()) for n in range(4))
    like, coffee, user = (
        set(term_sets(codes(pl.Series([w]), True), pl.Series(["a"]))[1].tolist())
        for w in ("like", "coffee", "user")
    )
    assert one & two == like | coffee | user and two == like | coffee | user
    assert three == four
    apart = term_sets(codes(said, unigrams=True), pl.Series(["a", "a", "b", "a"]))
    assert not set(apart[1][apart[0] == 2].tolist()) & four


def test_terms_of_scopes_never_meet_and_keep_their_order():
    said = ["用户不喜欢喝咖啡", "The user likes coffee in the morning", "keys of the office"] * 40
    scopes = [f"s{n // 3:02}" for n in range(len(said))]
    rows, items = term_sets(codes(pl.Series(said), unigrams=True), pl.Series(scopes))
    alone = term_sets(codes(pl.Series(said[:3]), unigrams=True), pl.Series(scopes[:3]))
    assert len(np.unique(items)) == len(np.unique(alone[1])) * 40
    for scope in range(40):
        mine = rows // 3 == scope
        assert (rows[mine] - 3 * scope).tolist() == alone[0].tolist()
        assert (items[mine] & np.uint64((1 << 44) - 1)).tolist() == alone[1].tolist()
