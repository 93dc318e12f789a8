"""Secrets: find and mask keys, passwords and identity numbers in memory text.

The shapes are data (`data/lexicons/secrets.toml`), matched by Rust's regular expressions in linear
time, and only in texts that hold one of a shape's trigger strings. What a shape matches still has
to look like a secret (`secrets_shapes`). Masking repeats until nothing more is found, so that a
masked text is left alone the next time.
"""

import re

import polars as pl

from memops.errors import mask_with
from memops.language.keeping import own_thread, thread_of
from memops.language.text import sought
from memops.policy.safety import Secrets
from memops.safety.masks import with_masks
from memops.safety.secrets_checks import plausible
from memops.safety.secrets_ends import STOPS, wherever, whole
from memops.safety.secrets_fitted import likely
from memops.safety.secrets_labels import unlabelled
from memops.safety.secrets_lists import of_one_list
from memops.safety.secrets_shapes import FITTED, MADE, PUBLIC, Shape, shapes, staying
from memops.safety.secrets_views import View, views

FOUND = pl.Schema(
    {"row": pl.UInt32(), "start": pl.UInt32(), "end": pl.UInt32(), "kind": pl.String()}
)

_HITS = pl.Schema(
    {"row": pl.UInt32(), "start": pl.UInt32(), "end": pl.UInt32(), "nth": pl.UInt32()}
)
_MET = pl.Schema(
    {"row": pl.UInt32(), "value": pl.String(), "nth": pl.UInt32(), "start": pl.UInt32(),
     "end": pl.UInt32(), "before": pl.String(), "following": pl.String()}
)  # fmt: skip

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"  # noncharacters, which no text should hold, mark a match
_QUOTED = ("password", "one-time-code", "token")
_CLOSING = ")].,;:|}\"'`”»」』’ \u00a0"
_INNER = r"""^((?:["'`“„«「『‘(]\s?|\*\*|__)*)([\s\S]*?)(?:\*\*|__)?$"""
_JOINED = (
    r"^(.{12,}?[0-9A-Z].*?)(?:[-_](?:[A-Z]?[a-z]{2,}))*[-_][A-Z]?[a-z]{3,}(?:[-_][A-Z]?[a-z]{2,})*$"
)
_NAME = r"^(\p{L}[\p{L}_-]*:+)(?:[^\s/]\S+[0-9]\S*|[0-9]\S{3,})$"  # of what a value is ("NAS:...")
_BEFORE, _FOLLOWING = 120, 60  # characters around a match that checks look at
_PIECES = 4  # matches whose texts make up what is around
_ROUNDS = 8
_DEFAULT = Secrets()


def found(texts: pl.Series, policy: Secrets = _DEFAULT) -> pl.DataFrame:
    """Return where secrets stand: row, start and end in characters, kind.

    Spans of one text do not overlap; rows without a secret, and null texts, are absent.
    """
    texts, known = unlabelled(texts.cast(pl.String)), shapes(policy)
    others = own_thread("views").submit(views, texts).result()
    read = pl.Series([view.text for view in others], dtype=pl.String)
    hits = _hits(pl.concat([texts.rename(""), read]), policy)
    spans = _merged(_in_place(hits, others, len(texts)))
    spans = whole(texts, spans, [nth for nth, shape in enumerate(known) if shape.kind in MADE])
    spans = _merged(pl.concat([spans, _again(texts, spans), of_one_list(texts, spans)]))
    kinds = pl.Series("kind", [shape.kind for shape in known])
    return spans.with_columns(kind=kinds.gather(spans["nth"])).select(FOUND.names())


def redacted(texts: pl.Series, policy: Secrets = _DEFAULT) -> pl.Series:
    """Return the texts with every secret masked and all else as it was."""
    return settled(texts, found(texts, policy), policy)[0]


def settled(
    texts: pl.Series, hits: pl.DataFrame, policy: Secrets = _DEFAULT
) -> tuple[pl.Series, bool]:
    """Return the texts with what was `found` masked, and what shows then, and whether that is all."""
    out: list[str | None] = []
    rows, part, last = list(range(len(texts))), texts, False
    for nth in range(_ROUNDS):
        masked = with_masks(part, found(part, policy) if nth else hits, policy)
        if last := not masked:
            break
        out = out or texts.to_list()
        rows = [rows[at] for at in masked]
        part = pl.Series(list(masked.values()), dtype=pl.String)
        for row, text in zip(rows, masked.values(), strict=True):
            out[row] = text
    return (pl.Series(texts.name, out, dtype=pl.String) if out else texts), last


def masked(text: str) -> str:
    """Return one text with every secret masked."""
    return str(redacted(pl.Series([sound(text)]))[0])


def sound(text: str) -> str:
    """Return a text without half characters, which JSON and names of files have and UTF-8 cannot hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


mask_with(masked)


def _hits(texts: pl.Series, policy: Secrets) -> pl.DataFrame:
    """Spans (row, start, end, shape) of all that looks like a secret and may not stay."""
    known, stay = shapes(policy), staying(policy)
    weighed = own_thread("likely").submit(likely, texts)  # meanwhile the shapes are looked for
    candidates = own_thread("candidates").submit(_candidates, texts, known).result()
    asked = [
        thread_of(known[nth].pattern).submit(_marked, rows, nth, known[nth])
        for nth, rows in candidates.items()
    ]
    met = pl.concat(one.result() for one in asked) if asked else pl.DataFrame()
    hits = _told(texts, weighed.result(), known)
    if hits.is_empty() and met.is_empty():
        return _HITS.to_frame()
    if not met.is_empty():
        quoted = [nth for nth, shape in enumerate(known) if shape.kind in _QUOTED]
        begun = [nth for nth, shape in enumerate(known) if shape.check == "prefixed"]
        some = _matches(met, pl.col("nth").is_in(quoted), pl.col("nth").is_in(begun))
        some = some.select(hits.columns)
        hits = pl.concat([some, hits])
    hits = plausible(_standing(hits, known), [shape.check for shape in known])
    if policy.allow:
        allowed = pl.any_horizontal(
            pl.col("value").str.contains(f"^(?:{p})$") for p in policy.allow
        )
        hits = hits.filter(~allowed)
    loosely = [n for n, shape in enumerate(known) if shape.loose]
    public = pl.col("nth").is_in([n for n in loosely if known[n].kind == PUBLIC])
    loose = pl.col("nth").is_in([n for n in loosely if known[n].kind != PUBLIC])
    kept = _clear_of(hits.select(_HITS.names()), pl.col("nth").is_in(stay))
    alone = _clear_of(kept.filter(public | loose), public)
    shaped = pl.concat([kept.filter(~(public | loose)), alone])
    fitted = pl.col("nth").is_in([n for n, shape in enumerate(known) if shape.check == FITTED])
    return pl.concat([shaped.filter(~fitted), _clear_of(shaped, ~fitted)])


def _told(texts: pl.Series, found: pl.DataFrame, known: tuple[Shape, ...]) -> pl.DataFrame:
    """What the fitted model found, of the kinds that are looked for, as `_matches` has the rest."""
    nths = {shape.kind: nth for nth, shape in enumerate(known) if shape.check == FITTED}
    hits = [
        (row, text[start:end], nths[kind], start, end, text[max(0, start - _BEFORE) : start],
         text[end : end + _FOLLOWING])
        for row, start, end, kind in found.iter_rows() if kind in nths for text in [texts[row]]
    ]  # fmt: skip
    return pl.DataFrame(hits, _MET, orient="row")


def _standing(hits: pl.DataFrame, known: tuple[Shape, ...]) -> pl.DataFrame:
    """Hits before which nothing says that they are none."""
    for unless in {shape.unless for shape in known if shape.unless}:
        asked = pl.col("nth").is_in([n for n, shape in enumerate(known) if shape.unless == unless])
        some = hits.filter(asked)
        gone = some.filter(pl.col("before").str.contains(unless))
        hits = hits.join(gone, on=["nth", "row", "start"], how="anti", maintain_order="left")
    return hits


def _in_place(hits: pl.DataFrame, others: list[View], rows: int) -> pl.DataFrame:
    """Hits as spans of the texts themselves: those past so many rows stand in other views of them."""
    moved = []
    for row, start, end, nth in hits.filter(pl.col("row") >= rows).iter_rows():
        view = others[row - rows]
        if span := view.span(start, end):
            moved.append((view.row, *span, nth))
    seen = pl.DataFrame(moved, _HITS, orient="row")
    return pl.concat([hits.filter(pl.col("row") < rows), seen])


def _candidates(texts: pl.Series, known: tuple[Shape, ...]) -> dict[int, pl.DataFrame]:
    """For each shape, the rows (row, text) that hold one of its triggers, and what its `when` asks.

    The texts are freed of the characters that will mark a match.
    """
    triggers = {word for shape in known for word in shape.triggers}
    text = pl.col("text").str.replace_all(f"[{_OPEN}{_CLOSE}]", "\ufffd")
    frame = texts.rename("text").to_frame().with_row_index("row").with_columns(text)
    held = pl.col("text").str.extract_many(
        sought(sorted(triggers), texts), ascii_case_insensitive=True, overlapping=True
    )
    words = (
        frame.select("row", word=held)
        .explode("word", empty_as_null=True)
        .drop_nulls()
        .select("row", pl.col("word").str.to_lowercase())
        .unique()
    )
    said, out = {*words["word"]}, dict[int, pl.DataFrame]()
    for nth, shape in enumerate(known):
        rows = frame
        if shape.check == FITTED:
            continue
        if shape.triggers:
            if said.isdisjoint(shape.triggers):
                continue
            told = words.filter(pl.col("word").is_in(shape.triggers))
            rows = frame.join(told, on="row", how="semi", maintain_order="left")
        rows = rows.filter(pl.col("text").str.contains(shape.when)) if shape.when else rows
        if rows.height:
            out[nth] = rows
    return out


def _marked(rows: pl.DataFrame, nth: int, shape: Shape) -> pl.DataFrame:
    """Texts that a shape matches, each match bracketed by two marks."""
    piece = rows["text"].str.replace_all(shape.pattern, f"${{1}}{_OPEN}${{2}}{_CLOSE}${{3}}")
    held = piece.str.contains(_OPEN, literal=True)
    told = rows.select("row", pl.lit(nth, pl.UInt32).alias("nth"), piece=piece)
    return told.filter(held)


def _matches(marked: pl.DataFrame, quoted: pl.Expr, begun: pl.Expr) -> pl.DataFrame:
    """Spans of the shapes: each text is cut at the marks, and what stands there is looked at."""
    piece, size, value = pl.col("piece"), pl.col("piece").str.len_chars(), pl.col("value")
    plain = piece.str.replace(_CLOSE, "", literal=True)
    parts, lead = piece.str.split(_CLOSE), pl.col("lead").str.len_chars()
    stop = lead + value.str.len_chars()
    return (
        marked.lazy()
        .with_row_index("text")
        .with_columns(piece.str.split(_OPEN))
        .explode("piece")
        .with_columns(first=pl.col("text") != pl.col("text").shift(1, fill_value=len(marked)))
        .with_columns(upto=(size - (~pl.col("first")).cast(pl.UInt32)).cum_sum().over("text"))
        .with_columns(
            begin=pl.col("upto").shift(1),
            last=plain.str.tail(_BEFORE),
            first_part=plain.str.head(_FOLLOWING),
        )
        .with_columns(
            before=pl.concat_str(_beside("last", n) for n in range(_PIECES, 0, -1)),
            beyond=pl.concat_str(_beside("first_part", -n) for n in range(1, _PIECES + 1)),
        )
        .filter(~pl.col("first"))
        .with_columns(match=parts.list.first(), rest=parts.list.last())
        .with_columns(*_bare(quoted, begun))
        .with_columns(following=pl.concat_str(pl.col("match").str.slice(stop), "rest", "beyond"))
        .select(
            "row",
            "value",
            "nth",
            start=pl.col("begin") + lead,
            end=pl.col("begin") + stop,
            before=(pl.col("before") + pl.col("lead")).str.tail(_BEFORE),
            following=pl.col("following").str.head(_FOLLOWING),
        )
        .filter(value != "")
        .collect(engine="in-memory")
    )  # fmt: skip


def _beside(part: str, n: int) -> pl.Expr:
    """The part of the n-th piece before, or after, in the same text."""
    same = pl.col("text") == pl.col("text").shift(n)
    return pl.when(same).then(pl.col(part).shift(n)).otherwise(pl.lit(""))


def _bare(quoted: pl.Expr, begun: pl.Expr) -> list[pl.Expr]:
    """What a match says (`value`), without what closes it or the sentence, and the `lead` that opens it.

    Of what an issuer's beginning tells (`begun`), words that are joined to the key are none of it.
    """
    match = pl.col("match").str.replace(r"[(\[（]+(?:(?:19|20)[0-9]{2}[-/.年]?[0-9/.-]*)?$", "")
    paired = pl.when(match.str.contains(r".\(")).then(match.str.strip_chars_end(_CLOSING[1:]))
    closed = paired.otherwise(match.str.strip_chars_end(_CLOSING))
    name = closed.str.extract(_NAME, 1).fill_null("")
    bare = closed.str.strip_prefix(name)
    lead, value = name + bare.str.extract(_INNER, 1), bare.str.extract(_INNER, 2)
    return [
        pl.when(quoted).then(lead).otherwise(pl.lit("")).alias("lead"),
        pl.when(quoted)
        .then(value)
        .when(begun)
        .then(match.str.replace(_JOINED, "${1}"))
        .otherwise(match)
        .alias("value"),
    ]


def _again(texts: pl.Series, spans: pl.DataFrame) -> pl.DataFrame:
    """The same secrets where they stand once more in their text, and nothing says what they are."""
    rows: list[tuple[int, int, int, int]] = []
    for row, start, end, nth in spans.select(_HITS.names()).iter_rows():
        value = texts[row][start:end].rstrip(STOPS)
        if len(value) >= 6 and re.search(r"[0-9]", value) and re.search(r"[^\W\d_]", value):
            places = re.finditer(wherever(value), texts[row])
            rows += [(row, *match.span(), nth) for match in places]
    return pl.DataFrame(rows, _HITS, orient="row")


def _clear_of(hits: pl.DataFrame, stays: pl.Expr) -> pl.DataFrame:
    """Hits that touch none of those that stay: masks of an earlier redaction, what is public."""
    stay = hits.filter(stays).select("row", stay_start="start", stay_end="end")
    rest = hits.filter(~stays).with_row_index("hit")
    touching = rest.join(stay, on="row").filter(
        (pl.col("start") < pl.col("stay_end")) & (pl.col("stay_start") < pl.col("end"))
    )
    gone = touching.select("hit").unique()
    return rest.join(gone, on="hit", how="anti", maintain_order="left").drop("hit")


def _merged(hits: pl.DataFrame) -> pl.DataFrame:
    """Overlapping spans become one, of the kind that the lexicon names first."""
    reach = pl.col("end").cum_max().shift(1).over("row")
    return (
        hits.sort("row", "start", "end", "nth")
        .with_columns(new=(pl.col("start") >= reach).fill_null(True))
        .with_columns(group=pl.col("new").cum_sum().over("row"))
        .group_by("row", "group")
        .agg(pl.col("start").min(), pl.col("end").max(), pl.col("nth").min())
        .sort("row", "start")
        .select(_HITS.names())
    )
