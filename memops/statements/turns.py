"""Turns: what a text says that something was, and what it says that it becomes."""

import re
from functools import cache

from memops.language.packs import cues, scripts
from memops.language.tokens import Keys, Tokens, keyed
from memops.language.vocabulary import CONTENT, parts
from memops.ordered import within
from memops.statements.said import spoken


def turned(plain: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the concepts that a text of change changes from, and those that it changes to."""
    was, becomes = _patterns()
    return _concepts(was, plain), _concepts(becomes, plain)


def retired_in(t: Tokens) -> Keys:
    """Return the values of a later clause that only says that they are gone."""
    gone = t.means({"stopped"}) & (t.clause > 0)
    clauses = keyed(t.row[gone], t.clause[gone])
    value = t.kinds("value")
    there = (t.row[value] << 32) | t.clause[value]
    value[value] = within(there, clauses)
    return t.keys(value)


_ONE = r"([\w./+#-]+(?:\s+[\w./+#-]+)?)"
_MOVES = "换改迁升降切转变搬涨移调提增减延缩推"


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    from_en, from_zh = map("|".join, scripts(cues("shift", "from")))
    to_en, to_zh = map("|".join, scripts(cues("shift", "to")))
    was = re.compile(
        rf"(?<!took )(?<!take )(?<!takes )\b(?:{from_en})\s+{_ONE}"
        rf"|(?:从|由)\s*([\w./+#-]+?)\s*(?=[{_MOVES}])"
        rf"|(?:{from_zh})\s*([\w./+#-]+?)(?=\s|，|。|$|做|的|到|成|为|负责)",
        re.IGNORECASE,
    )
    becomes = re.compile(rf"\b(?:{to_en})\s+{_ONE}|(?:{to_zh})\s*([\w./+#-]+)", re.IGNORECASE)
    return was, becomes


def _concepts(pattern: re.Pattern[str], plain: str) -> frozenset[str]:
    spans = [next(filter(None, match.groups())) for match in pattern.finditer(plain)]
    return frozenset(
        item for span in spans for t in spoken(span) if t.kind in CONTENT for item in parts(t)
    )
