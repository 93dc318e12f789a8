"""Hide from recall what gives orders to a model, and prompts of the agent's own software."""

import polars as pl

from memops.context import Context
from memops.judge.places import KEPT, MOMENTS, placed, touchable
from memops.language.lexicon import lexicon
from memops.language.passages import read
from memops.plan import edit
from memops.policy.safety import Hostile
from memops.safety.hostile import (
    PROMPTS,
    SHAPED,
    concepts,
    injected,
    prompt_again,
    prompt_alone,
    spoken,
    wordless,
)
from memops.safety.trust import by_anybody, by_machine
from memops.schema import LIVE, QUARANTINE, native, only

_BANNERS = lexicon("hostile")["banners"]
_SHOWN = ("quotation", "code", "table", "instruction")
"""Forms that tell of what somebody else said or wrote."""
_QUOTED = r'["“「『][^"”」』]{20,}["”」』]'
_ORDER = {"words": 24, "characters": 200}  # of a line that is no longer than orders are
_ORDERING = (("order first",), ("drop",), ("override",), ("identity",), ("addressed", "must"))
"""Concepts that an order speaks of: all of one of these."""
_PROMPTING = "|".join([PROMPTS, *_BANNERS["personas"], _BANNERS["prompts"]])
_AMID = "hostile.prompt_amid"
_OVERRULING = ("hostile.drops_instructions", "hostile.voids_instructions")
_SENT = r"(?m)^Sender \(untrusted metadata\)|message_id"  # of what a person sent over a channel


def quarantine_injected(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Hide text that gives orders to a model, and stored prompts, until a person has looked.

    Of a talk only turns that are nothing but the software's words are hidden, those that are known
    to their end; what else its marks begin, be it over and over, may be somebody's words, and has a
    reason of its own.

    Any tier and pin: a planted record is often the best protected one. Nothing is deleted. What
    came from no machine and no channel is taken for the owner's or the agent's, who may give
    orders: there it takes more to be hostile. What a document shows as another's words, as code or
    as a table gives none.
    """
    live = _asked(records, ctx).filter(LIVE, touchable())
    sent = placed() & pl.col("text").str.contains(_SENT)
    strange = (by_machine() | by_anybody()) & ~sent
    shown = placed() & pl.col("form").is_in(_SHOWN) & (pl.col("role") != "session")
    policy = ctx.policy.hostile
    owners = policy.of_owners()
    prompts = _hostile(live.filter(~strange, ~placed()), owners).filter(
        pl.col("code").is_in(SHAPED)
    )
    talk = placed() & (pl.col("role") == "session")  # of which words tell nothing
    found = (
        pl.concat(
            [
                _hostile(live.filter(strange), policy).filter(~talk | pl.col("code").is_in(SHAPED)),
                prompts,
                _spoken(live.filter(~strange & ~shown), owners),
            ]
        )
        .unique("id", keep="first", maintain_order=True)
        .sort("id")
    )
    prompt, known = pl.col("code") == "hostile.own_prompt", prompt_alone()
    alone = talk & pl.col("source").is_not_null() & (known | wordless())
    found = found.filter(~placed() | ~prompt | alone)  # notes may collect prompts
    bare = native("suffix").fill_null("") == ""  # a comment behind it is somebody else's
    again = prompt_again(policy.repeats) & ~placed()  # of a talk, what answers it would miss it
    sure = (known | again) & bare
    found = found.with_columns(code=pl.when(prompt & ~sure).then(pl.lit(_AMID)).otherwise("code"))
    tags = pl.concat_list("tags", pl.lit(["quarantined"])).list.unique(maintain_order=True)
    return edit(
        found, "quarantine", pl.col("code"),
        superseded_by=pl.lit(QUARANTINE), tags=tags, evidence=[], risk="medium",
    )  # fmt: skip


def _asked(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """The records that changed; all, where one of them may be a prompt, known by how often it stands."""
    some = only(records, ctx.changed)
    if ctx.changed is None or not _prompting(some.filter(LIVE)["text"]).any():
        return some
    return records


def _prompting(texts: pl.Series) -> pl.Series:
    """Which texts may be a prompt of the agent's software, at least if they stand over and over."""
    said = read(pl.DataFrame({"nth": pl.int_range(texts.len(), eager=True), "raw": texts}))
    start = pl.col("text").str.strip_chars_start()
    return said.select(start.str.contains(_PROMPTING)).to_series()


def _hostile(some: pl.DataFrame, policy: Hostile, personas: bool = True) -> pl.DataFrame:
    told = some.with_columns(code=injected(some["text"], policy, personas))
    return told.filter(pl.col("code").is_not_null())


def _spoken(some: pl.DataFrame, policy: Hostile) -> pl.DataFrame:
    """Records of which one line is hostile, what it quotes left out.

    Orders are brief, and begin with what is to be done, drop what was said before or claim to be
    somebody. Words tell so of a row and of a day's notes, which take in what comes; of the curated
    file, the owner's own word, only what overrules it; of talks and of notes on a subject they
    tell nothing.
    """
    lines = some.select("id", "role", rowed=~placed(), text=pl.col("text").str.split("\n")).explode(
        "text"
    )
    bare = lines.with_columns(text=pl.col("text").str.replace_all(_QUOTED, " "))
    words = pl.col("text").str.count_matches(r"\p{Han}{1,2}|[^\s\p{Han}]+")
    short = pl.col("text").str.len_chars() <= _ORDER["characters"]
    told = _hostile(bare, policy, False).with_columns(brief=short & (words <= _ORDER["words"]))
    masks, bits = spoken(told["text"]), {one.name: 1 << n for n, one in enumerate(concepts())}
    every = [sum(bits[name] for name in names) for names in _ORDERING]
    ordering = pl.any_horizontal(*(pl.lit((masks & bit) == bit) for bit in every))
    taken_in = pl.col("rowed") | (pl.col("role") == "daily") | pl.col("role").is_null()
    overruling = pl.col("role").is_in(KEPT) & pl.col("code").is_in(_OVERRULING)
    orders = pl.col("brief") & ordering & (taken_in | overruling)
    own = (pl.col("code") == "hostile.own_prompt") & ~pl.col("role").is_in(MOMENTS)
    shaped = pl.col("code").is_in(SHAPED) & ~own.fill_null(False)  # a rule may quote a prompt
    found = told.filter(orders | shaped).unique("id", keep="first", maintain_order=True)
    return some.join(found.select("id", "code"), on="id", how="inner")
