import json
import os
import re
from html import unescape
from pathlib import Path

import pytest

from memops.reports.page import render
from tests import report_shots as shots
from tests.hostile import HIT, PAYLOADS
from tests.nights import filled, many, night

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shots.BROWSER, reason="no chromium on this machine"),
]
LONG = "very-long-word-" + "x" * 300 + " 潮镜" * 40


def _written(folder, name, html):
    (folder / name).write_text(html, encoding="utf-8")
    return name


def test_pictures_are_taken_wide_and_narrow_light_and_dark(tmp_path):
    pictures = list(shots.main(tmp_path))
    assert len(pictures) == 12
    for picture in pictures:
        head = picture.read_bytes()[:24]
        assert head[1:4] == b"PNG" and int.from_bytes(head[20:24], "big") == 2400
        assert picture.stat().st_size > 40_000


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_sticks_out_of_the_window(tmp_path, width, lang):
    for name, data in (("night", night()), ("long", filled(LONG)), ("many", many(10_000))):
        page = _written(tmp_path, f"{name}.html", render(data, lang))
        seen = shots.measured(tmp_path, page, width)
        assert seen["articles"] > 10
        assert (seen["scroll"], seen["wide"]) == (width, []), name


def test_no_payload_runs_even_without_the_policy(tmp_path):
    dirty = f"<p>{PAYLOADS[9]}</p>"
    for name, html in (
        *((f"{i}.html", render(filled(payload))) for i, payload in enumerate(PAYLOADS)),
        ("control.html", render(night()).replace("<main>", f"<main>{dirty}")),
    ):
        bare = re.sub(r"<meta http-equiv[^>]*>", "", html)
        assert bare != html
        _written(
            tmp_path, name, bare.replace("</title>", '</title><link rel="icon" href="data:,">')
        )
    frames = "".join(f'<iframe src="{i}.html"></iframe>' for i in range(len(PAYLOADS)))
    counting = (
        '<!doctype html><title>f</title><link rel="icon" href="data:,"><body>FRAMES<script>'
        "window.onload = () => { document.body.dataset.hits = "
        '[...document.querySelectorAll("iframe")].filter(f => '
        "f.contentDocument.documentElement.dataset.hit).length }</script>"
    )
    assert HIT.startswith("document.documentElement.dataset.hit")
    for name, inside, hits in (
        ("all", frames, "0"),
        ("known", '<iframe src="control.html"></iframe>', "1"),
    ):
        _written(tmp_path, f"{name}.html", counting.replace("FRAMES", inside))
        with shots.serving(tmp_path) as (address, asked):
            dom = shots.browse(
                f"{address}/{name}.html", "--dump-dom", "--virtual-time-budget=20000"
            )
        assert re.search(r'data-hits="(\d+)"', dom)[1] == hits
        outside = [p for p in asked if not re.fullmatch(r"/(\d+|all|known|control)\.html", p)]
        assert outside == (["/x"] if name == "known" else [])


def test_a_page_asks_the_network_for_nothing(tmp_path):
    _written(tmp_path, "page.html", render(night()))
    with shots.serving(tmp_path) as (address, asked):
        shots.browse(f"{address}/page.html", "--dump-dom")
    assert set(asked) <= {"/page.html", "/favicon.ico"}  # the browser itself asks for an icon


@pytest.mark.skipif("MEMOPS_AXE" not in os.environ, reason="MEMOPS_AXE names no axe.min.js")
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(tmp_path, dark):
    script = Path(os.environ["MEMOPS_AXE"]).read_text(encoding="utf-8")
    run = (
        "document.querySelectorAll('details').forEach(d => d.open = true);"
        "axe.run().then(r => document.body.dataset.axe = JSON.stringify(r.violations.map(v =>"
        " [v.impact, v.id, v.nodes.slice(0, 3).map(n => n.html.slice(0, 150))])))"
    )
    for name, data in (("night", night()), ("many", many(400))):
        html = re.sub(r"<meta http-equiv[^>]*>", "", render(data))
        _written(tmp_path, "axe.js", script)
        _written(
            tmp_path,
            f"{name}.html",
            html.replace("</body>", f'<script src="axe.js"></script><script>{run}</script></body>'),
        )
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        with shots.serving(tmp_path) as (address, _):
            dom = shots.browse(
                f"{address}/{name}.html", "--dump-dom", "--virtual-time-budget=60000", scheme
            )
        found = json.loads(unescape(re.search(r'data-axe="([^"]*)"', dom)[1]))
        assert [v for v in found if v[0] in ("serious", "critical")] == []
