"""The passive: which texts tell what is done to something, and by whom."""

import numpy as np

from memops.language.packs import codes, function_words
from memops.language.tokens import Keys, Tokens, keyed
from memops.values.operators import words


def passives(t: Tokens) -> dict[str, Keys]:
    """Return which texts tell by whom something is done: eaten by, 被; and the `first` thing of each."""
    known = words(codes())
    by = t.kinds("function") & t.said(function_words("acting"))
    done = t.where(lambda concept, kind, said: known.participle(said.lower()))
    first = t.where(lambda concept, kind, said: said in known.suffering, "function")
    acted = t.texts((by & (t.before(done) > 0)) | first)
    things = t.solid & ~t.kinds("value")
    return {
        "acted": keyed(np.flatnonzero(acted), t.items["acted"]),
        "first": t.keys(things & (t.before(things) == 0)),
    }
