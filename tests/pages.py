"""Pages as tests read them."""

from html.parser import HTMLParser

import pytest

VOID = {"meta", "img", "br", "input", "link", "base", "rect", "line", "circle", "path"}


def unsaid(lacking, of, where="data/lexicons/report.toml"):
    """List what has no Chinese, which nobody who adds a thing need write; fail where much has none."""
    said = f"no Chinese in {where} for: {', '.join(sorted(lacking))}"
    assert len(lacking) * 5 <= of, said
    if lacking:
        pytest.xfail(said)


class Page(HTMLParser):
    """A page as a list of tags, the rows of its tables by label, and texts by id."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.tables, self.ids, self.text = [], {}, {}, []
        self.open, self.cell, self.rows = [], None, None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(
            (tag, tuple((name, value) for name, value in attrs if name != "aria-label"))
        )
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append((tag, attrs))
        if attrs.get("role") == "region":
            self.rows = self.tables.setdefault(attrs["aria-label"], [])
        if tag == "tr" and self.rows is not None:
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.cell = []

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self.cell is not None:
            self.rows[-1].append(" ".join("".join(self.cell).split()))
            self.cell = None
        if tag == "table":
            self.rows = None
        if tag not in VOID:
            assert self.open.pop()[0] == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        self.text.append(data)
        if self.cell is not None:
            self.cell.append(data)
        for _, attrs in self.open:
            if "id" in attrs:
                self.ids[attrs["id"]] = self.ids.get(attrs["id"], "") + data
