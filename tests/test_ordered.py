"""What ordered arrays of numbers say is what the libraries' slower ways say."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from memops.ordered import connected

_N = 12
_LINKS = st.lists(st.tuples(st.integers(0, _N - 1), st.integers(0, _N - 1)), max_size=15)


@settings(deadline=None)
@given(_LINKS)
def test_groups_are_the_connected_components_in_the_order_of_their_first(links):
    a, b = np.array(links, np.int64).reshape(-1, 2).T
    graph = csr_matrix((np.ones(len(a)), (a, b)), shape=(_N, _N))
    assert connected(a, b, _N).tolist() == connected_components(graph, directed=False)[1].tolist()
