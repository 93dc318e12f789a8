"""Stemming: Snowball's stemmers, for any number of threads."""

import threading
from typing import Any

_OWN = threading.local()


def stemmed(word: str, algorithm: str) -> str:
    """Return the stem by one of Snowball's algorithms.

    A stemmer works on a word that it holds, so each thread has its own.
    """
    stemmer: Any = getattr(_OWN, algorithm, None)
    if stemmer is None:
        import snowballstemmer

        stemmer = snowballstemmer.stemmer(algorithm)
        setattr(_OWN, algorithm, stemmer)
    return str(stemmer.stemWord(word))
