"""Sparse: scipy's matrices, loaded without parts of numpy that nobody asks for.

To have all that numpy names, scipy loads its Fortran compiler, its tests and more, which takes longer
than what a night needs of both. They are there as soon as somebody asks numpy for them.
"""

from typing import Any

import numpy as np

_UNASKED = ("f2py", "ma", "polynomial", "testing")


def _loaded() -> Any:
    """Return `scipy.sparse`; while it loads, what is not asked for seems to be there."""
    absent = [name for name in _UNASKED if name not in vars(np)]
    vars(np).update(dict.fromkeys(absent))
    try:
        from scipy import sparse
    finally:
        for name in absent:
            if vars(np)[name] is None:
                del vars(np)[name]
    return sparse


sparse = _loaded()
csc_matrix, csr_matrix = sparse.csc_matrix, sparse.csr_matrix
csr_array, diags_array = sparse.csr_array, sparse.diags_array
