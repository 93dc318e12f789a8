"""What a store says cannot harm a page: no element, no request, no secret, no hidden sign."""

import re
import unicodedata

from memops.language.lexicon import resource
from memops.reports import words
from memops.reports.page import _template, render
from memops.reports.words import clean, visible
from tests.hostile import PAYLOADS
from tests.nights import edited, filled, night
from tests.pages import Page

TEMPLATES = sorted(resource("reports").rglob("*.j2"))


def test_hostile_text_makes_no_element_and_no_attribute_in_any_field():
    assert len(PAYLOADS) >= 50
    plain = Page(render(filled("x"))).tags
    chinese = Page(render(filled("x"), "zh")).tags
    for nth, payload in enumerate(PAYLOADS):
        assert Page(render(filled(payload))).tags == plain, payload
        if nth % 10 == 0:
            assert Page(render(filled(payload), "zh")).tags == chinese, payload


def test_hostile_text_is_shown_as_it_is():
    shown = "".join(Page(render(filled("<b onclick=x>&amp;</b>{{ 7 * 7 }}"))).text)
    assert shown.count("<b onclick=x>&amp;</b>{{ 7 * 7 }}") > 60
    assert "49" not in shown


def test_a_page_asks_for_nothing_and_runs_nothing():
    html = render(night())
    page = Page(html)
    after_head = page.tags[[tag for tag, _ in page.tags].index("head") + 1]
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    policy += "base-uri 'none'; form-action 'none'"
    assert after_head == ("meta", (("http-equiv", "Content-Security-Policy"), ("content", policy)))
    names = {tag for tag, _ in page.tags}
    assert not names & {
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "form",
        "base",
        "input",
    }
    attributes = {name for _, attrs in page.tags for name, _ in attrs}
    assert not attributes & {"src", "style", "action", "srcset", "xlink:href", "target"}
    assert not [name for name in attributes if name.startswith("on")]
    links = [value for _, attrs in page.tags for name, value in attrs if name == "href"]
    assert links and all(link.startswith("#") or link == "ops.jsonl" for link in links)
    assert {link[1:] for link in links if link[0] == "#"} <= {
        value for _, attrs in page.tags for name, value in attrs if name == "id"
    }
    assert "url(" not in html and "@import" not in html and "http://" not in html


def test_templates_never_trust_data():
    assert len(TEMPLATES) >= 6
    environment = _template("run.html.j2").environment
    assert environment.autoescape is True and environment.undefined.__name__ == "StrictUndefined"
    for path in TEMPLATES:
        source = path.read_text(encoding="utf-8")
        assert not re.search(
            r"\|\s*safe|Markup|autoescape|xmlattr|<script|style=|\bon\w+=", source
        ), path
        assert not re.search(r"=\s*\{[{%]", source.replace('"{%', "")), (
            f"{path}: unquoted attribute"
        )
        for attribute, value in re.findall(r'([\w:-]+)="([^"]*)"', source):
            if attribute in ("href", "src", "action", "xlink:href") and "{" in value:
                assert (path.name, value) == ("run.html.j2", "#{{ section.id }}"), path


def test_control_and_bidirectional_characters_are_spelled_out():
    assert visible("a\u202eb\x1b[0m\r\tc\n") == "a⟨U+202E⟩b⟨U+001B⟩[0m⟨U+000D⟩\tc\n"
    assert visible("👩\u200d🔬 ب\u200dب") == "👩\u200d🔬 ب⟨U+200D⟩ب"
    turning = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    for point in (
        *range(0x3000),
        *range(0xD800, 0xE000),
        *range(0xFDD0, 0x10000),
        *range(0xE0000, 0xE0080),
    ):
        char = chr(point)
        hidden = unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") and char not in "\t\n"
        if hidden or unicodedata.bidirectional(char) in turning:
            assert visible(f"a{char}b") == f"a⟨U+{point:04X}⟩b"
    page = render(filled("\u202e\x1b\ud800\u200b"))
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x1b\ud800-\udfff]", page)
    assert page.encode()


def test_secrets_are_masked_wherever_they_stand():
    secret = "sk-" + "proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d"
    html = render(filled(f"the model key is {secret} and stays"))
    assert "[redacted" in html
    assert secret not in html and secret[3:20] not in html and secret[-12:] not in html


def test_a_secret_at_the_edge_of_a_clipped_text_does_not_show_in_part():
    secret = "sk-" + "proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d"
    for length in range(180, 800, 23):
        text = "w " * (length // 2) + secret + " w" * 600
        html = render(night(changes=[edited(text, None), edited(text, text + " more")]))
        assert secret[8:20] not in html and secret[-12:] not in html, length


def test_names_keep_their_counts_when_they_are_cleaned():
    before = {
        "rows": 3,
        "live": 3,
        "by_kind": {},
        "by_scope": {"a\u200b": 1, "a⟨U+200B⟩": 2},
        "by_tier": {},
    }
    page = Page(render(night(counts={"before": before, "after": before})))
    assert page.tables["Live records by scope"][1:] == [["a⟨U+200B⟩", "3", "3", "0"]]
    assert clean({"n": 1, "deep": [{"x": "\x00"}, None, 2.5]}) == {
        "n": 1,
        "deep": [{"x": "⟨U+0000⟩"}, None, 2.5],
    }


def test_a_text_that_stands_many_times_on_a_page_is_made_visible_once(monkeypatch):
    read = []
    monkeypatch.setattr(words, "visible", lambda text: read.append(text) or visible(text))
    assert clean([{"k": "a\u202eb"}] * 50) == [{"k": "a⟨U+202E⟩b"}] * 50
    assert sorted(read) == ["a\u202eb", "k"]
