"""Cut out of a turn what the agent's own software put around somebody's words."""

import polars as pl

from memops.context import Context
from memops.judge.places import placed, touchable
from memops.plan import edit
from memops.safety.hostile import PROMPTS, WRAPPERS, prompt_alone
from memops.safety.trust import by_anybody, by_machine
from memops.schema import LIVE, only

_ADDED = (
    rf"(?is)<(?:{WRAPPERS})>.*?</(?:{WRAPPERS})>\s*",
    rf"(?im)^(?:{PROMPTS})[^\n]*(?:\n[^\n]+)*\s*",
)
"""What the software adds to a turn: what its tags close in, and paragraphs that its prompts begin."""
_ENVELOPE = r"(?m)^[^\n(]+\(untrusted metadata\):\n```json\n(?:[^\n]*\n)*?```\s*"
"""What a channel tells of a message; a turn that says nothing else has no words of its own."""


def unwrap_turns(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Cut out of a turn what the agent's own software put around somebody's words, which stay.

    A turn that is nothing but such text is no turn: `quarantine_injected` hides it. What came from
    a machine or over a channel may imitate the software, so there it has to begin with it.
    """
    turns = only(records, ctx.changed).filter(
        LIVE, touchable(), placed(), pl.col("role") == "session", ~prompt_alone()
    )
    begun = pl.col("text").str.contains(rf"(?i)^\s*(?:{PROMPTS})")
    strange = by_machine() | by_anybody()
    bare = pl.col("text")
    for added in _ADDED:
        bare = bare.str.replace_all(added, "")
    cut = turns.filter(begun | ~strange).with_columns(left=bare.str.strip_chars())
    own = pl.col("left").str.replace_all(_ENVELOPE, "").str.strip_chars() != ""
    cut = cut.filter(own, pl.col("left") != pl.col("text").str.strip_chars())
    return edit(
        cut, "update", "turn.wrapped", text=pl.col("left"), evidence=[], risk="medium"
    ).sort("id")
