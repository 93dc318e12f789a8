"""Exchange: golden queries from and to what other programs read.

    trec       queries.tsv (id, text), qrels.txt (query 0 record grade)
    beir       corpus.jsonl, queries.jsonl, qrels/test.tsv (header query-id corpus-id score)
    promptfoo  tests.jsonl: vars.query, assert of contains, icontains, regex and their not-...
    locomo     one JSON file of conversations with questions (import only)
    longmemeval  one JSON file of questions with their sessions (import only)

Imports of LoCoMo and LongMemEval, and of BEIR's corpus, also give the records that are searched.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops.errors import Corrupt, StoreNotFound
from memops.evaluation.golden import Suite, as_rows
from memops.evaluation.proposals import text_of
from memops.files import json_lines

Row = dict[str, Any]
Made = tuple[list[Row], list[Row]]
"""Rows of `queries.jsonl`, and records that came with them."""

_LOCOMO = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_LOCOMO_TIME = "%I:%M %p on %d %B, %Y"
_LONGMEM_TIME = "%Y/%m/%d (%a) %H:%M"
_UNANSWERABLE = "_abs"  # how LongMemEval marks a question without an answer


def read(path: Path, kind: str) -> Made:
    """Return what a file or folder of that kind holds; raises StoreNotFound or Corrupt."""
    if not path.exists():
        raise StoreNotFound(f"{path}: no such file or folder")
    return IMPORTS[kind](path)


def write(suite: Suite, folder: Path, kind: str, records: pl.DataFrame | None = None) -> list[str]:
    """Write a suite's files of that kind and return their names; BEIR's corpus is the records."""
    texts = dict(EXPORTS[kind](suite, records))
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return sorted(texts)


def _from_trec(folder: Path) -> Made:
    rows = [{"query_id": cells[0], "text": cells[1]} for cells in _cells(folder / "queries.tsv", 2)]
    judged = ((c[0], c[2], c[3]) for c in _cells(folder / "qrels.txt", 4, None))
    return _judged(rows, judged, folder / "qrels.txt"), []


def _from_beir(folder: Path) -> Made:
    rows = [
        {"query_id": _text(row, "_id", where), "text": _text(row, "text", where)}
        for row, where in _objects(folder / "queries.jsonl")
    ]
    path = next(iter(sorted((folder / "qrels").glob("*.tsv"))), folder / "qrels" / "test.tsv")
    judged = list(_cells(path, 3))[1:]
    corpus = folder / "corpus.jsonl"
    records = [
        {"id": _text(row, "_id", where), "text": "\n".join(filter(None, said))}
        for row, where in (_objects(corpus) if corpus.is_file() else ())
        for said in [(row.get("title"), _text(row, "text", where))]
    ]
    return _judged(rows, ((c[0], c[1], c[2]) for c in judged), path), records


def _from_promptfoo(path: Path) -> Made:
    rows: list[Row] = []
    file = path / "tests.jsonl" if path.is_dir() else path
    for nth, (test, where) in enumerate(_objects(file), 1):
        given = test.get("vars") or {}
        text = next((given[n] for n in ("query", "question", "prompt") if n in given), None)
        if not isinstance(text, str) or not text.strip():
            raise Corrupt(f"{where}: vars has no query, question or prompt")
        about = test.get("metadata") or {}
        row: Row = {"query_id": str(about.get("query_id") or f"t{nth:03}"), "text": text}
        row |= {k: about[k] for k in ("scope", "category", "lang", "as_of") if about.get(k)}
        if about.get("relevant"):
            row["relevant"] = about["relevant"]
        for told in test.get("assert") or ():
            kind, value = str(told.get("type")), told.get("value")
            if kind.removeprefix("not-") not in _ASSERTS or not isinstance(value, str):
                raise Corrupt(f"{where}: cannot grade an assert of type {kind!r}", "remove it")
            name = "avoid" if kind.startswith("not-") else "nuggets"
            row[name] = [*row.get(name, ()), _ASSERTS[kind.removeprefix("not-")](value)]
        rows.append(row | ({} if "nuggets" in row or "relevant" in row else {"answerable": False}))
    return rows, []


def _from_locomo(path: Path) -> Made:
    rows: list[Row] = []
    records: list[Row] = []
    for sample, where in _samples(path):
        scope, talk = _text(sample, "sample_id", where), sample.get("conversation") or {}
        for name, turns in talk.items():
            if not isinstance(turns, list):
                continue
            at = _time(talk.get(f"{name}_date_time"), _LOCOMO_TIME)
            records += [_turn(scope, turn, name, at) for turn in turns]
        for nth, asked in enumerate(sample.get("qa") or (), 1):
            named = asked.get("evidence") or ()
            evidence = [i for told in named for i in re.split(r"[;,\s]+", told)]
            category = _LOCOMO.get(asked.get("category"), "other")
            row = {
                "query_id": f"{scope}-{nth:03}", "text": _text(asked, "question", f"{where}: qa {nth}"),
                "scope": scope, "category": category,
            }  # fmt: skip
            if category == "adversarial":
                rows.append(row | {"answerable": False})
            elif evidence:
                rows.append(row | {"relevant": {f"{scope}:{i}": 1 for i in evidence if i}})
    return rows, records


def _turn(scope: str, turn: Mapping[str, Any], session: str, at: str | None) -> Row:
    seen = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return {
        "id": f"{scope}:{turn.get('dia_id')}", "scope": scope, "kind": "session",
        "text": f"{turn.get('speaker')}: {turn.get('text')}{seen}", "created_at": at,
        "source": session,
    }  # fmt: skip


def _from_longmemeval(path: Path) -> Made:
    rows: list[Row] = []
    records: list[Row] = []
    for asked, where in _samples(path):
        scope = _text(asked, "question_id", where)
        right: list[str] = []
        sessions = zip(
            asked.get("haystack_session_ids") or (), asked.get("haystack_sessions") or (),
            asked.get("haystack_dates") or [None] * len(asked.get("haystack_sessions") or ()),
            strict=False,
        )  # fmt: skip
        for session, turns, date in sessions:
            for nth, turn in enumerate(turns, 1):
                name = f"{scope}:{session}:{nth}"
                right += [name] * bool(turn.get("has_answer"))
                about = {"id": name, "scope": scope, "kind": "session", "source": turn.get("role")}
                said = {"text": turn.get("content") or "", "created_at": _time(date, _LONGMEM_TIME)}
                records.append(about | said)
        row = {
            "query_id": scope, "text": _text(asked, "question", where), "scope": scope,
            "category": str(asked.get("question_type") or "other"),
        }  # fmt: skip
        if scope.endswith(_UNANSWERABLE):
            rows.append(row | {"category": "abstention", "answerable": False})
        elif right:
            rows.append(row | {"relevant": dict.fromkeys(right, 1)})
    return rows, records


def _to_trec(suite: Suite, records: pl.DataFrame | None) -> Iterator[tuple[str, str]]:
    pairs = suite.queries.select("query_id", pl.col("text").str.replace_all(r"\s+", " ")).rows()
    yield "queries.tsv", "".join(f"{query}\t{text}\n" for query, text in pairs)
    judged = suite.relevant.select("query_id", "id", "grade").rows()
    yield "qrels.txt", "".join(f"{q} 0 {_bare(i)} {grade}\n" for q, i, grade in judged)


def _to_beir(suite: Suite, records: pl.DataFrame | None) -> Iterator[tuple[str, str]]:
    asked = suite.queries.select("query_id", "text").rows()
    yield "queries.jsonl", text_of([{"_id": q, "text": text} for q, text in asked])
    judged = suite.relevant.select("query_id", "id", "grade").rows()
    lines = ["query-id\tcorpus-id\tscore", *(f"{q}\t{i}\t{grade}" for q, i, grade in judged)]
    yield "qrels/test.tsv", "\n".join(lines) + "\n"
    if records is not None:
        held = records.select("id", "text").rows()
        yield "corpus.jsonl", text_of([{"_id": i, "title": "", "text": text} for i, text in held])


def _to_promptfoo(suite: Suite, records: pl.DataFrame | None) -> Iterator[tuple[str, str]]:
    tests = []
    for row in as_rows(suite):
        told = [{"type": "regex", "value": v} for v in row.get("nuggets", ())]
        told += [{"type": "not-regex", "value": v} for v in row.get("avoid", ())]
        kept = ("query_id", "scope", "category", "lang", "as_of", "relevant")
        about = {k: row[k] for k in kept if row.get(k) is not None}
        named = {"description": row["query_id"], "vars": {"query": row["text"]}}
        tests.append(named | {"assert": told, "metadata": about})
    yield "tests.jsonl", text_of(tests)


IMPORTS: dict[str, Callable[[Path], Made]] = {
    "trec": _from_trec, "beir": _from_beir, "promptfoo": _from_promptfoo, "locomo": _from_locomo,
    "longmemeval": _from_longmemeval,
}  # fmt: skip
EXPORTS: dict[str, Callable[[Suite, pl.DataFrame | None], Iterator[tuple[str, str]]]] = {
    "trec": _to_trec, "beir": _to_beir, "promptfoo": _to_promptfoo,
}  # fmt: skip
_ASSERTS: dict[str, Callable[[str], str]] = {
    "contains": re.escape, "icontains": re.escape, "equals": re.escape, "regex": str,
}  # fmt: skip


def _judged(rows: Sequence[Row], judged: Iterable[tuple[str, str, str]], path: Path) -> list[Row]:
    relevant: dict[str, dict[str, int]] = {}
    for nth, (query, record, grade) in enumerate(judged, 1):
        try:
            score = max(0, int(grade.removesuffix(".0")))
        except ValueError as error:
            raise Corrupt(f"{path}: judgement {nth}: {grade!r} is no whole number") from error
        relevant.setdefault(query, {})[record] = score
    positive = {q: {i: g for i, g in held.items() if g} for q, held in relevant.items()}
    told = ((row, positive.get(row["query_id"])) for row in rows)
    return [row | {"relevant": right} for row, right in told if right]


def _cells(path: Path, width: int, separator: str | None = "\t") -> Iterator[list[str]]:
    if not path.is_file():
        raise StoreNotFound(f"{path}: no such file")
    for nth, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        cells = line.split(separator)
        if line.strip() and len(cells) < width:
            raise Corrupt(f"{path}: line {nth} has {len(cells)} of {width} columns")
        if line.strip():
            yield cells


def _objects(path: Path) -> Iterator[tuple[Row, str]]:
    if not path.is_file():
        raise StoreNotFound(f"{path}: no such file")
    for where, row in json_lines(path):
        if not isinstance(row, dict):
            raise Corrupt(f"{where}: not a JSON object")
        yield row, where


def _samples(path: Path) -> Iterator[tuple[Row, str]]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ValueError) as error:
        raise Corrupt(f"{path}: not JSON: {error}") from error
    for nth, sample in enumerate(held if isinstance(held, list) else [held], 1):
        if not isinstance(sample, dict):
            raise Corrupt(f"{path}: item {nth}: not a JSON object")
        yield sample, f"{path}: item {nth}"


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str | int) or not str(value).strip():
        raise Corrupt(f"{where}: {name} must be a text that is not empty")
    return str(value)


def _time(text: Any, form: str) -> str | None:
    """A time without a zone, taken as UTC; null when it is written in another way."""
    with suppress(ValueError):
        return datetime.strptime(str(text).strip(), form).replace(tzinfo=UTC).isoformat()
    return None


def _bare(name: str) -> str:
    """An id as one word, as TREC's columns want it."""
    return re.sub(r"\s", "_", name)
