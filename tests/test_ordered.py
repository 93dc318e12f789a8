"""What ordered arrays of numbers say is what the libraries' slower ways say."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from memops.ordered import Seen, connected

_N = 12
_LINKS = st.lists(st.tuples(st.integers(0, _N - 1), st.integers(0, _N - 1)), max_size=15)


@settings(deadline=None)
@given(_LINKS)
def test_groups_are_the_connected_components_in_the_order_of_their_first(links):
    a, b = np.array(links, np.int64).reshape(-1, 2).T
    graph = csr_matrix((np.ones(len(a)), (a, b)), shape=(_N, _N))
    assert connected(a, b, _N).tolist() == connected_components(graph, directed=False)[1].tolist()


_TEXTS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True)


@settings(deadline=None)
@given(_TEXTS, _TEXTS, st.data())
def test_a_pair_of_texts_is_seen_where_it_stood_last_whatever_its_places_are_now(was, now, data):
    seen = Seen()

    def pairs(texts):
        places = st.integers(0, len(texts) - 1)
        drawn = data.draw(st.lists(st.tuples(places, places), unique=True))
        a, b = np.array(drawn, np.int64).reshape(-1, 2).T
        return [(texts[x], texts[y]) for x, y in drawn], seen.keys(texts, a, b)

    before, keys = pairs(was)
    seen.note(keys)
    after, keys = pairs(now)
    wanted = [before.index(pair) if pair in before else -1 for pair in after]
    assert seen.places(keys).tolist() == wanted
