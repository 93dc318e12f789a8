"""Look at reports in a real browser.

python -m tests.report_shots DIR       writes pictures of small and large nights
python -m tests.report_shots sample    writes reports/sample.png anew
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from datetime import UTC, datetime
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from memops.nights import demo
from memops.reports.page import render
from tests.nights import many, night

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MEASURE = """
<!doctype html><title>frame</title><link rel="icon" href="data:,"><body style="margin:0">
<iframe src="PAGE" style="border:0;width:WIDTHpx;height:2400px"></iframe><script>
window.onload = () => {
  const doc = document.querySelector("iframe").contentDocument;
  doc.querySelectorAll("details").forEach(d => d.open = true);
  const wide = [...doc.body.querySelectorAll("*")].filter(e =>
    !e.closest(".scroll > *, svg") && e.getBoundingClientRect().right > WIDTH + 0.5);
  document.body.dataset.seen = JSON.stringify({
    scroll: doc.documentElement.scrollWidth,
    wide: wide.slice(0, 5).map(e => e.outerHTML.slice(0, 120)),
    articles: doc.querySelectorAll("article").length});
};
</script>"""


def browse(url, *flags):
    """Return what the browser prints for a page."""
    with tempfile.TemporaryDirectory() as profile:
        command = [BROWSER, *QUIET, f"--user-data-dir={profile}", *flags, url]
        done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    return done.stdout.decode()


def shoot(url, out, width, height, dark=False):
    """Take a picture; a window is at least 500 wide, so narrower pages stand in a frame."""
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    browse(url, f"--screenshot={out}", f"--window-size={max(width, 500)},{height}", scheme)


def measured(folder, page, width):
    """Return how wide a page of a folder gets in so wide a window, and what sticks out."""
    frame = MEASURE.replace("PAGE", page).replace("WIDTH", str(width))
    (folder / f"measure-{width}.html").write_text(frame)
    with serving(folder) as (address, _):
        dom = browse(f"{address}/measure-{width}.html", "--dump-dom", "--virtual-time-budget=5000")
    return json.loads(unescape(re.search(r'data-seen="([^"]*)"', dom)[1]))


class serving:
    """Serve a folder on this machine and keep what was asked for."""

    def __init__(self, folder):
        self.asked = asked = []

        class Handler(SimpleHTTPRequestHandler):
            def log_request(self, *_):
                asked.append(self.path)

        handler = partial(Handler, directory=str(folder))
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}", self.asked

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def main(out):
    """Write pictures of a small and a large night, wide and narrow, light and dark."""
    out.mkdir(parents=True, exist_ok=True)
    nights = ("small", "en", night()), ("small", "zh", night()), ("large", "en", many(10_000))
    for name, lang, data in nights:
        page = f"{name}-{lang}.html"
        (out / page).write_text(render(data, lang), encoding="utf-8")
        (out / f"narrow-{page}").write_text(
            f'<body style="margin:0"><iframe src="{page}" width=390 height=2400 frameborder=0>'
        )
        for shade in ("light", "dark"):
            for width, path in ((1280, page), (390, f"narrow-{page}")):
                picture = out / f"{name}-{lang}-{width}-{shade}.png"
                with serving(out) as (address, _):
                    shoot(f"{address}/{path}", picture, width, 2400, shade == "dark")
                yield picture


def sample(picture):
    """Take the picture of the README: the page of the night on a sample store."""
    with tempfile.TemporaryDirectory() as folder, serving(folder) as (address, _):
        nights = demo.run(Path(folder) / "memops-demo", NOW)
        page = Path(nights[0]["report"]).read_text(encoding="utf-8")
        (Path(folder) / "page.html").write_text(page.replace(f"{folder}/", ""), encoding="utf-8")
        shoot(f"{address}/page.html", picture, 1000, 1560)


if __name__ == "__main__":
    if sys.argv[1] == "sample":
        sample(Path("reports/sample.png"))
    else:
        for picture in main(Path(sys.argv[1])):
            print(picture)
