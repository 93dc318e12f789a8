import re
import shutil
import time
from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops.language.lexicon import lexicon, resource
from memops.policy import Policy
from memops.reports import page as page_of
from memops.reports import pictures as report_pictures
from memops.reports import sections, view
from memops.reports import words as report_words
from memops.reports.page import render, render_history
from memops.reports.sections import SECTIONS
from memops.reports.words import clipped, differences
from memops.schema import from_rows
from tests.counts import few
from tests.nights import counted, edited, iv, many, night
from tests.pages import Page, unsaid

TEMPLATES = sorted(resource("reports").rglob("*.j2"))


def test_every_number_on_the_page_is_the_data_s():
    data = night()
    page = Page(render(data))
    states = Counter(change["state"] for change in data["changes"])
    assert [
        page.ids[f"n-{n}"] for n in ("proposed", "applied", "skipped", "refused", "rows", "live")
    ] == [
        "10",
        str(states["applied"]),
        "1",
        "1",
        "304 → 305",
        "301 → 295",
    ]
    assert sorted(map(tuple, page.tables["Changes by rule"][1:])) == sorted(
        (rule, ", ".join(f"{op} {n}" for op, n in ops.items()), str(sum(ops.values())))
        for rule, ops in data["by_rule"].items()
    )
    for label, name in (("kind", "by_kind"), ("scope", "by_scope"), ("tier", "by_tier")):
        was, now = (data["counts"][side][name] for side in ("before", "after"))
        assert {row[0]: row[1:] for row in page.tables[f"Live records by {label}"][1:]} == {
            key: [str(was[key]), str(now[key]), str(now[key] - was[key])] for key in was
        }
    assert page.tables["Tier flow"][1:] == [
        [m["source"], m["target"], str(m["count"])] for m in data["tier_flow"]
    ]
    assert page.tables["Floors"][1:] == [
        ["default", "preference", "10", "10", "0"],
        ["default", "fact", "158", "5", "153"],
    ]
    assert page.tables["Time by step"][1:] == [
        ["snapshot", "0.42"],
        ["plan", "3.18"],
        ["apply", "0.77"],
    ]
    assert page.tables["Recall before and after"][1:] == [
        ["R@5", "0.810 0.710–0.900", "0.900 0.820–0.970", "+0.090 +0.020 … +0.170", "50"],
        ["nDCG@10", "0.700 0.600–0.790", "0.780 0.700–0.860", "+0.080 +0.020 … +0.150", "50"],
        ["Success@1", "0.620", "0.700", "+0.080", "50"],
    ]
    assert page.tables["By language"][1:] == [
        ["English", "0.830", "0.910", "+0.080", "26"],
        ["Chinese", "0.790", "0.890", "+0.100", "24"],
    ]
    assert page.tables["Queries lost"][1:] == [
        ["c45 备用探头在哪 project · Chinese", "2", "not found"]
    ]
    assert page.tables["Age"][1:] == [
        ["<7 d", "12", "12", "0"],
        ["<30 d", "51", "48", "-3"],
        [">=30 d", "238", "235", "-3"],
    ]


def test_a_change_is_shown_with_its_reason_evidence_fields_and_undo():
    changes = night()["changes"]
    changes[5]["undo"] = {
        "command": {"typed": "memops", "verb": "rollback", "run": "R", "option": "--only"},
        "seqs": [6],
    }
    text = " ".join(" ".join(Page(render(night(changes=changes))).text).split())
    assert (
        "demote 0f3c9a52-77aa-5d1e-9c55-000000000006 applied Risk: medium #6 · key again_06_b "
        "relevance 0.04 The user needs reading glasses 👓 Sets: tier working → peripheral "
        "Evidence again_06_a The user keeps bees on the roof "
        "To take this back: memops rollback R --only 6"
    ) in text
    assert "(no record before) The passport of the user expires in March 2029" in text


def test_a_record_that_is_replaced_stands_beside_what_replaces_it():
    changes = night()["changes"][3:4]
    changes[0]["evidence"] = [{"id": "home_city_1", "text": "The user lives in Ningbo"}]
    html = render(night(changes=changes))
    assert "The user lives in <del>Xiamen</del></p>" in html
    assert "<code>home_city_1</code></span>\nThe user lives in <ins>Ningbo</ins></p>" in html
    named = {"id": "other", "text": "The user lives in Oslo"}
    assert "<ins>Oslo</ins>" in render(night(changes=[{**changes[0], "instead": named}]))


def test_words_that_differ_are_marked_on_both_sides():
    before, after = "报警阈值是 3.2 米，夜里有效", "报警阈值是 3.6 米，夜里有效"
    assert differences(before, after) == (
        [(False, "报警阈值是 3."), (True, "2"), (False, " 米，夜里有效")],
        [(False, "报警阈值是 3."), (True, "6"), (False, " 米，夜里有效")],
    )
    assert differences("lives in old Xiamen", "lives in Ningbo now") == (
        [(False, "lives in "), (True, "old Xiamen")],
        [(False, "lives in "), (True, "Ningbo now")],
    )
    assert "<del>2</del>" in render(night(changes=[edited(before, after)]))
    assert "<ins>6</ins>" in render(night(changes=[edited(before, after)]))


words = st.text(alphabet="ab 中文,.\n", max_size=40)


@few(50)
@given(words, words)
def test_marked_parts_are_the_texts_and_agree_outside_the_marks(before, after):
    left, right = differences(before, after)
    assert "".join(text for _, text in left) == before
    assert "".join(text for _, text in right) == after
    if before == after:
        assert not any(differs for differs, _ in left + right)
    same = ["".join(t for differs, t in side if not differs) for side in (left, right)]
    assert "".join(same[0].split()) == "".join(same[1].split())


def test_comparing_long_texts_takes_no_longer_than_reading_them():
    a, b = ("".join(f"{w}{i} " for i in range(20_000)) for w in ("old", "new"))
    started = time.perf_counter()
    left, right = differences("same " + a, "same " + b)
    assert time.perf_counter() - started < 2
    assert (
        [differs for differs, _ in left]
        == [differs for differs, _ in right]
        == [False, True, False]
    )
    assert sum(len(text) for _, text in clipped(left)) < 1000


def test_a_change_deep_in_a_long_text_is_still_seen():
    long = "the tide table of the harbour " * 200
    html = render(
        night(
            changes=[edited(long + "says 3.2 metres. " + long, long + "says 3.6 metres. " + long)]
        )
    )
    assert "<del>2</del>" in html and "<ins>6</ins>" in html


@pytest.mark.parametrize("words_each", [14, 60])
def test_ten_thousand_changes_make_a_small_page_quickly(words_each):
    data = many(10_000, words_each)
    started = time.perf_counter()
    html = render(data)
    assert time.perf_counter() - started < 5
    assert 150_000 < len(html.encode()) < 500_000
    page = Page(html)
    assert page.ids["n-proposed"] == "10,000"
    shown = int(re.search(r"(\d+) of 10,000 changes are shown", "".join(page.text))[1])
    assert shown == [tag for tag, attrs in page.tags].count("article") - len(data["conflicts"])
    assert all(f"<h3>{rule}</h3>" in html for rule in data["by_rule"])


def test_a_small_rule_is_shown_whole_beside_a_large_one():
    base = night()["changes"][0]
    rules = ["large"] * 5000 + ["small"] * 7
    changes = [{**base, "seq": i, "rule": rule} for i, rule in enumerate(rules, 1)]
    html = render(night(changes=changes, total_changes=len(changes), by_rule=counted(changes)))
    large, small = html.split("<h3>small</h3>")
    assert small.count('class="change"') == 7 and "and 4," not in small
    shown = large.count('class="change"')
    assert shown > 100 and f"and {5000 - shown:,} more" in large


def test_a_page_stays_small_whatever_the_texts():
    texts = ["<&\"'>" * 4000, "\u202e" * 8000, "潮" * 9000]
    changes = [
        {
            **night()["changes"][0],
            "seq": i,
            "id": texts[i % 3],
            "code": texts[i % 3],
            "args": {texts[1]: texts[i % 3]},
            "before_text": texts[i % 3],
            "after_text": texts[(i + 1) % 3],
            "evidence": [{"id": texts[0], "text": texts[1]}] * 30,
            "rule": f"r{i % 7}",
        }
        for i in range(300)
    ]
    pair = {"id": texts[0], "text": texts[1]}
    data = night(
        changes=changes,
        total_changes=300,
        by_rule={f"r{i}": {"merge": 1} for i in range(500)},
        refused=[{"id": texts[0], "code": texts[1], "args": {}, "rule": texts[2], "text": texts[0]}]
        * 900,
        skipped=[{"id": texts[1], "why": texts[0]}] * 900,
        conflicts=[
            {"old": pair, "new": pair, "code": texts[0], "args": {"x": texts[0]}, "cues": texts * 9}
        ]
        * 900,
        clusters=[{"keeper": pair, "members": [pair] * 50}] * 900,
        floors=[
            {"scope": f"{texts[2]}{i}", "kind": texts[0], "live": i, "floor": 5} for i in range(900)
        ],
        limits=[{"code": text, "args": {}} for text in texts] * 300,
        environment={f"{texts[1]}{i}": texts[0] for i in range(9)},
    )
    assert len(render(data).encode()) < 500_000


def test_a_page_in_chinese_says_everything_in_chinese():
    english, chinese = lexicon("report")["en"], lexicon("report")["zh"]
    html = render(night(), "zh")
    assert '<html lang="zh-Hans">' in html
    verdict = "共 304 条记录，提出 10 项变更，已应用 8 项。跳过 1 项，守卫撤回 1 项。"
    assert verdict + "召回率（R@5）由 0.810 变为 0.900。" in html
    text = "".join(Page(html).text)
    for key, said in english.items():
        if isinstance(said, str) and len(said.split()) > 2:
            assert said not in text, key
            assert chinese.get(key) != said
    assert "合并" in text and "核心 161" in text


def test_both_languages_say_the_same_things():
    english, chinese = lexicon("report")["en"] | sections.english(), lexicon("report")["zh"]
    assert chinese.keys() - {"reasons", "settings", "fields"} <= english.keys()
    for key in english.keys() & chinese.keys() - {"words", "steps"}:
        named = [set(re.findall(r"{\w+}", said[key])) for said in (english, chinese)]
        assert named[0] == named[1], key
    templates = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES)
    modules = "".join(p.read_text() for p in Path(report_words.__file__).parent.glob("*.py"))
    said = set(re.findall(r"""say\(["'](\w+)["']""", templates + modules)) - {"key"}
    said |= {section.id for section in SECTIONS}
    assert said <= english.keys()
    assert english.keys() - said - set(re.findall(r'"(\w+)"', templates + modules)) == set()
    unsaid(english.keys() - chinese.keys(), len(english))


def test_sections_of_one_template_stand_together_for_a_page_has_it_once():
    parts = [part for part, _ in groupby(section.part for section in SECTIONS)]
    assert len(parts) == len({*parts}), f"put those of one template in a row: {parts}"


def test_a_section_is_a_function_and_a_line_with_its_words_and_a_template(monkeypatch, tmp_path):
    """No other test and no sample night need know of one, and it is given no more room than any."""
    shutil.copytree(page_of.resource("reports"), tmp_path / "reports")
    part = """<section id="loud"><h2>{{ say('loud') }} {{ d.loud_total }}</h2>
{% for row in d.loud %}<p>{{ row.text }}</p>{% endfor %}</section>"""
    (tmp_path / "reports" / "parts" / "loud.html.j2").write_text(part)
    section = sections.Section(
        "loud", "loud", lambda s: s.after.select("text").to_dicts(), False, {"loud": "What shouts"}
    )
    monkeypatch.setattr(page_of, "resource", tmp_path.joinpath)
    for module in (sections, page_of, view):
        monkeypatch.setattr(module, "SECTIONS", (*SECTIONS, section))
    page_of._template.cache_clear()
    try:
        records = from_rows([{"id": "a", "kind": "fact", "text": "NO <b>PARKING"}])
        sides = sections.Sides(records, records, "2026-06-01T00:00:00Z", Policy())
        assert "loud" not in render(night(), "zh")
        rows = sections.filled(sides)["loud"]
        page = render(night(loud=rows * 5000), "zh")
        assert '<a href="#loud">What shouts</a>' in page and "What shouts 5000</h2>" in page
        assert "NO &lt;b&gt;PARKING" in page and len(page.encode()) < 100_000
    finally:
        page_of._template.cache_clear()


def test_a_plan_without_run_suite_or_changes_still_makes_a_page():
    lists = {key: [] for key, value in night().items() if isinstance(value, list)}
    data = night(run=None, grades=None, total_changes=0, by_rule={}, environment={}, **lists)
    text = "".join(Page(render(data)).text)
    assert "0 changes are proposed for a store of 304 records; nothing has been written." in text
    assert "Recall was not graded: no suite." in text and "Nothing is waiting for a person." in text
    assert "memops rollback" not in text


def test_pictures_are_to_scale_and_described():
    page = Page(render(night()))
    pictures = [dict(attrs) for tag, attrs in page.tags if tag == "svg"]
    assert pictures and all(p["role"] == "img" for p in pictures)
    ids = [value for _, attrs in page.tags for name, value in attrs if name == "id"]
    assert len(ids) == len(set(ids))
    assert {ref for p in pictures for ref in p["aria-labelledby"].split()} <= set(ids)
    rows = [{"name": "a", "before": 200, "after": 100}, {"name": "b", "before": 0, "after": 1}]
    drawn = report_pictures.pairs("k", "t", "d", rows, str)["rows"]
    assert [(row["before"], row["after"]) for row in drawn] == [(360.0, 180.0), (0.0, 1.8)]
    measured = [{"measure": "R@5", "before": iv(0.0, 0.0, 0.5), "after": iv(1.0)}]
    (row,) = report_pictures.intervals("t", "d", measured)["rows"]
    assert row["before"] == {"x": 6.0, "low": 6.0, "high": 180.0}
    assert row["after"] == {"x": 354.0, "low": None, "high": None}


def test_bands_of_the_tier_flow_are_as_high_as_their_counts():
    say = report_words.Speaker("en")
    moves = [
        {"source": "core", "target": "core", "count": 30},
        {"source": "working", "target": "hidden", "count": 10},
    ]
    drawn = report_pictures.flow("t", "d", moves, say)
    assert [(n["label"], n["high"]) for n in drawn["left"]] == [
        ("core 30", 112.5),
        ("working 10", 37.5),
    ]
    assert [(n["label"], n["high"]) for n in drawn["right"]] == [
        ("core 30", 112.5),
        ("hidden 10", 37.5),
    ]
    assert [band["moved"] for band in drawn["bands"]] == [False, True]


def test_lines_of_the_trend_break_at_gaps():
    lines = [
        {
            "name": "live records",
            "points": [
                {"day": f"2026-05-0{n}", "value": v}
                for n, v in enumerate([10.0, 20.0, None, 10.0], 1)
            ],
        }
    ]
    row = report_pictures.courses("t", "T", "D", lines, str)["rows"][0]
    assert row["d"] == "M4.0 42.0L121.3 20.0M356.0 42.0"
    assert [(dot["x"], dot["y"]) for dot in row["dots"]] == [
        (4.0, 42.0),
        (121.3, 20.0),
        (356.0, 42.0),
    ]
    page = render(night(trend=lines))
    cells = re.findall(r'<th scope="row">2026-05-0(.)</th><td class="n">(.*?)</td>', page)
    assert cells == [("4", "10"), ("3", "–"), ("2", "20"), ("1", "10")]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_of_all_nights_shows_every_store(lang):
    hostile = "<script>alert(1)</script>"
    lines = night()["trend"]
    page = render_history(
        [
            {"store": hostile, "nights": 3, "lines": lines},
            {"store": "港口", "nights": 3, "lines": lines},
        ],
        lang,
    )
    assert hostile not in page and "&lt;script&gt;" in page and "港口" in page
    assert page.count("<svg") == 2 and page.count("2026-05-29") == 2
    assert "default-src 'none'" in page


def test_rendering_twice_gives_the_same_bytes():
    assert render(many(300)) == render(many(300))
