from functools import partial
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops.judge.candidates.near import alike, alike_by_hashes, alike_to, sets
from memops.judge.candidates.sought import near_pairs, sets_of
from memops.judge.candidates.termsets import term_sets
from memops.language.codes import code_of, codes
from memops.language.text import tokens
from memops.ordered import place_in
from memops.policy import Candidates
from memops.statements.taken import flat
from tests.bench.corpus import texts
from tests.counts import few

TEXTS = st.lists(st.text("ab c's1京都大学 .!\nÄＡé", max_size=12), max_size=6)


@few(30)
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


@few(30)
@given(st.sets(NUMBERS, max_size=40), st.lists(NUMBERS, max_size=20))
def test_a_code_is_found_where_a_search_finds_it_however_codes_are_spread(listed, asked):
    held = np.array(sorted(listed), np.uint64)
    for wanted in (np.array(asked, np.uint64), held):
        assert place_in(held, wanted).tolist() == np.searchsorted(held, wanted).tolist()


def exhaustive(members, least):
    """Every pair, by Python sets."""
    return {
        (i, j): len(a & b) / len(a | b)
        for (i, a), (j, b) in combinations(enumerate(members), 2)
        if a | b and len(a & b) / len(a | b) >= least - 1e-9
    }


def found_by(search, members, least):
    rows = np.repeat(np.arange(len(members)), [len(m) for m in members])
    items = np.array([x for m in members for x in m], np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    a, b, share = search(*sets(rows, items, len(members)), len(members), least)
    return dict(zip(zip(a.tolist(), b.tolist(), strict=True), share.tolist(), strict=True))


@few(50)
@given(
    st.lists(st.sets(st.integers(1, 14), max_size=9), max_size=14),
    st.sampled_from([0.3, 0.5, 0.7, 0.9, 1.0]),
)
def test_the_prefix_filter_finds_exactly_what_comparing_all_with_all_finds(members, least):
    assert found_by(alike, members, least) == pytest.approx(exhaustive(members, least))


@few(50)
@given(
    st.lists(st.tuples(st.booleans(), st.sets(st.integers(1, 14), max_size=9)), max_size=14),
    st.sampled_from([0.3, 0.5, 0.7, 1.0]),
)
def test_what_is_near_some_sets_is_found_without_what_is_near_others(told, least):
    some, members = np.array([one for one, _ in told], bool), [held for _, held in told]
    search = partial(alike_to, some)
    every = exhaustive(members, least)
    wanted = {pair: share for pair, share in every.items() if some[[*pair]].any()}
    assert found_by(search, members, least) == pytest.approx(wanted)


def test_near_duplicates_among_notes_in_two_languages_are_all_found():
    found = codes(pl.Series(texts(700, seed=3)))
    rows, items = sets(found.rows, found.codes, 700)
    members = [set(items[rows == n].tolist()) for n in range(700)]
    expected = exhaustive(members, 0.7)
    a, b, share = alike(rows, items, 700, 0.7)
    assert len(expected) > 40
    assert dict(
        zip(zip(a.tolist(), b.tolist(), strict=True), share.tolist(), strict=True)
    ) == pytest.approx(expected)
    hashed = alike_by_hashes(rows, items, 700, 0.7)
    pairs = set(zip(hashed[0].tolist(), hashed[1].tolist(), strict=True))
    assert pairs <= set(expected) and len(pairs) >= 0.98 * len(expected)


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


def near(said, scopes, limits):
    held = sets_of(codes(pl.Series(said)), pl.Series(scopes))
    exact = np.array([scopes.count(scope) <= limits.exact for scope in scopes], bool)
    return near_pairs(flat(held["tokens"]), exact, limits)


@pytest.mark.parametrize("exact", [200, 40, 4])
def test_pairs_of_one_scope_are_the_same_whatever_stands_beside_it(exact):
    """Also where scopes are of a size that is searched by hashes."""
    said = [f"the depot {n % 12} 仓库 opens at {n % 7} daily by rule {n % 5}" for n in range(90)]
    scopes = ["a"] * 10 + ["b"] * 50 + ["c"] * 30
    limits = Candidates(exact=exact)
    a, b = near(said, scopes, limits)
    found, at = set(zip(a.tolist(), b.tolist(), strict=True)), 0
    for size, scope in ((10, "a"), (50, "b"), (30, "c")):
        a, b = near(said[at : at + size], [scope] * size, limits)
        mine = {(i, j) for i, j in found if at <= i < at + size}
        assert mine == set(zip((a + at).tolist(), (b + at).tolist(), strict=True))
        at += size
    assert len(found) > 100
