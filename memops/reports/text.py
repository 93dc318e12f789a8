"""Report in text: the same figures for a terminal, a pull request or a chat."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from memops.language.lexicon import lexicon
from memops.reports import view, words
from memops.reports.data import Report

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~$&@:=-])")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;", ":": "&#58;", "#": "&#35;"}


def summary_markdown(data: Report, lang: str = "en") -> str:
    """Return a summary in GitHub's Markdown; text from the store can neither link nor mention."""
    page, say = _page(data, lang)
    parts = [f"### {_escaped(page['title'])}", f"**{_escaped(_verdict(page, say))}**"]
    parts.append(_markdown(*_figures(page, say)))
    if page["rules"]:
        parts.append(_markdown(*_rules(page, say)))
    if page["grades"]:
        parts += [_markdown(*_grades(page, say)), *_moved(page, say)]
    parts += [f"- {_escaped(say.reason(limit))}" for limit in page["limits"]]
    if page["run"] and page["run"]["undo_command"]:
        command = page["run"]["undo_command"].replace("`", "'")
        parts.append(f"{_escaped(say('undo_all'))} `{_one_line(command)}`")
    return "\n\n".join(parts) + "\n"


def summary_table(data: Report, lang: str = "en") -> str:
    """Return a summary in aligned columns, wide characters counted as two."""
    page, say = _page(data, lang)
    parts = [_one_line(_verdict(page, say)), _aligned(*_figures(page, say))]
    if page["rules"]:
        parts.append(_aligned(*_rules(page, say)))
    if page["grades"]:
        parts.append(_aligned(*_grades(page, say)))
    parts += [_one_line(say.reason(limit)) for limit in page["limits"]]
    if page["run"] and page["run"]["undo_command"]:
        parts.append(f"{say('undo_all')} {_one_line(page['run']['undo_command'])}")
    return "\n\n".join(parts) + "\n"


Table = tuple[list[str], list[list[str]]]


def _page(data: Report, lang: str) -> tuple[dict[str, Any], words.Speaker]:
    say = words.speaker(lexicon("report")[lang])
    return view.selected(words.clean(view.outlined(data))), say


def _verdict(page: Mapping[str, Any], say: words.Speaker) -> str:
    return str(page["verdict_sentence"] or view.verdict(page, say))


def _figures(page: Mapping[str, Any], say: words.Speaker) -> Table:
    rows, live = page["counts"]["rows"], page["counts"]["live"]
    change = [f"{words.number(n[0])} → {words.number(n[1])}" for n in (rows, live)]
    return [say("overview"), say("total")], [
        [say("proposed"), words.number(page["total_changes"])],
        [say("applied"), words.number(page["states"]["applied"])],
        [say("skipped_tile"), words.number(page["skipped_total"])],
        [say("refused_tile"), words.number(page["refused_total"])],
        [say("rows_tile"), change[0]],
        [say("live_tile"), change[1]],
    ]


def _rules(page: Mapping[str, Any], say: words.Speaker) -> Table:
    return [say("rule"), say("operations"), say("total")], [
        [
            say.named(row["rule"]),
            say("comma").join(f"{say.word(op['op'])} {words.number(op['n'])}" for op in row["ops"]),
            words.number(row["total"]),
        ]
        for row in page["rules"]
    ]


def _grades(page: Mapping[str, Any], say: words.Speaker) -> Table:
    return [say("measure"), say("before"), say("after"), say("difference")], [
        [
            row["measure"],
            words.fixed(row["before"]["value"]),
            words.fixed(row["after"]["value"]),
            words.fixed(row["delta"]["value"], sign=True),
        ]
        for row in page["grades"]["measures"]
    ]


def _moved(page: Mapping[str, Any], say: words.Speaker) -> list[str]:
    """One line for each kind of query that came or went: how many, and the first three."""
    said = []
    for name in ("lost", "gained"):
        total, rows = page["grades"][f"{name}_total"], page["grades"][name][:3]
        if total:
            texts = "; ".join(_escaped(row["text"]) for row in rows)
            said.append(f"{_escaped(say(name))}: {words.number(total)} ({texts})")
    return said


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [[_escaped(cell) for cell in line] for line in (head, *rows)]
    lines.insert(1, ["---", *["---:"] * (len(head) - 1)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [[_one_line(cell) for cell in line] for line in (head, *rows)]
    wide = [max(_width(line[i]) for line in lines) for i in range(len(head))]
    last = len(head) - 1
    return "\n".join(
        "  ".join(
            " " * (wide[i] - _width(cell)) + cell
            if i == last
            else cell + " " * (wide[i] - _width(cell))
            for i, cell in enumerate(line)
        )
        for line in lines
    )


def _width(text: str) -> int:
    """Columns that a terminal gives the text."""
    none = sum(unicodedata.combining(c) > 0 or c in "\u200d\ufe0f" for c in text)
    return len(text) - none + sum(unicodedata.east_asian_width(c) in "WF" for c in text)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: _ENTITIES.get(found[1], f"\\{found[1]}"), _one_line(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())
