"""Cut out of a turn what the agent's own software put around somebody's words."""

import polars as pl

from memops.context import Context
from memops.judge.places import placed, touchable
from memops.plan import edit
from memops.safety.hostile import PROMPTS, prompt_alone, unwrapped, wordless
from memops.safety.trust import AGENTS, by_anybody, by_machine
from memops.schema import LIVE, only


def unwrap_turns(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Cut out of a turn what the agent's own software put around somebody's words, which stay.

    A turn that is nothing but such text is no turn: `quarantine_injected` hides it. What the agent
    itself says of such text it quotes, and keeps. What came from a machine or over a channel may
    imitate the software, so there it has to begin with it.
    """
    quoting = pl.col("source").is_in(AGENTS).fill_null(False)
    turns = only(records, ctx.changed).filter(
        LIVE, touchable(), placed(), pl.col("role") == "session", ~quoting
    )
    turns = turns.filter(~prompt_alone())
    begun = pl.col("text").str.contains(rf"(?i)^\s*(?:{PROMPTS})")
    strange = by_machine() | by_anybody()
    cut = turns.filter(begun | ~strange, ~wordless()).with_columns(left=unwrapped())
    whole = pl.col("left").str.count_matches(r"(?m)^\s*```") % 2 == 0  # or it is quoted in code
    cut = cut.filter(whole, pl.col("left") != pl.col("text").str.strip_chars())
    return edit(
        cut, "update", "turn.wrapped", text=pl.col("left"), evidence=[], risk="medium"
    ).sort("id")
