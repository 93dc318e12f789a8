"""Echoes: records that hold a golden question itself, chat that was stored or bait for a grader.

Who writes the question beside an answer into a store would always be found, and found right. So an
echo is reported, and is evidence of nothing but what a person named by its id.
"""

import polars as pl

from memops.evaluation.golden import Suite
from memops.language.text import normalised, wordlist
from memops.schema import LIVE

_QUESTION = (
    r"[?？]|[吗呢谁几哪]|什么|多少|怎么|怎样|为何|如何|何时|多[久大高长远]"
    r"|(?i)^(?:what|which|who|whom|whose|where|when|why|how|is|are|was|were|do|does|did|can|could"
    r"|has|have|will|would|should|tell me)\b"
)
_LONG = (5, 8)  # words, or Han characters, of a question that nobody writes by chance


def echoes(suite: Suite, records: pl.DataFrame) -> pl.DataFrame:
    """Return (query_id, doc_id) of live records whose text holds the whole of a question."""
    said, text = normalised(pl.col("text")), pl.col("text")
    spaces, han = said.str.count_matches(" "), said.str.count_matches(r"\p{Han}")
    long = (spaces >= _LONG[0] - 1) | (han >= _LONG[1])
    asked = suite.queries.filter(text.str.contains(_QUESTION) & long).select("query_id", said=said)
    words = asked["said"].unique().sort().to_list()
    held = records.filter(LIVE).select(doc_id="id", said=said)
    found = held.select(
        "doc_id", said=pl.col("said").str.extract_many(wordlist(words), overlapping=True)
    ).explode("said", empty_as_null=True)
    return asked.join(found, on="said").select("query_id", "doc_id").unique().sort(pl.all())
