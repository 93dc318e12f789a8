"""Balance: what a text opens and does not close, so that nothing is taken that another part needs."""

import re
from collections import Counter

TAGS = frozenset(
    re.findall(
        r"\w+",
        "a abbr article aside b blockquote body button caption center code colgroup dd del details "
        "dfn div dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header "
        "html i ins kbd label legend li main mark nav ol optgroup option p pre q s samp section "
        "select small span strike strong sub summary sup table tbody td tfoot th thead time title "
        "tr tt u ul var video",
    )
)
"""HTML's elements that have an end; other names in angle brackets are words of the text."""

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)(?:\s[^<>]*)?(/?)>")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
_KEY = re.compile(r"-----(BEGIN|END) ([A-Z0-9 ]+)-----")


def unbalanced(text: str) -> Counter[str]:
    """Return how many more times each tag, comment and key block is opened than closed, if not 0."""
    if "<" not in text and "-----" not in text:
        return Counter()
    sums: Counter[str] = Counter()
    plain = _CODE.sub("", text) if "`" in text else text
    for ends, name, empty in _TAG.findall(plain):
        if name.lower() in TAGS and not empty:
            sums[name.lower()] += -1 if ends else 1
    if "<!--" in plain:
        sums["<!--"] = max(0, plain.count("<!--") - plain.count("-->"))
    for what, name in _KEY.findall(text):
        sums[f"key {name}"] += 1 if what == "BEGIN" else -1
    return Counter({name: n for name, n in sums.items() if n})
