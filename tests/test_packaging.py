"""The wheel, in a bare environment: help, the demonstration, and a rendered report."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    argv = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*argv, "-w", str(out), str(ROOT)], check=True, capture_output=True)
    return next(out.glob("memops-*.whl"))


def test_the_wheel_holds_one_package_and_its_data(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {n.split("/")[0] for n in names if "dist-info" not in n} == {"memops"}
    for wanted in (
        "memops/_data/data/make_samples.py",
        "memops/_data/data/samples/clawseed.sql",
        "memops/_data/evals/sample/clawseed/suite.toml",
        "memops/_data/flows/nightly.py",
        "memops/_data/flows/prefect.yaml",
        "memops/_data/reports/run.html.j2",
        "memops/py.typed",
    ):
        assert wanted in names


def test_the_wheel_works_where_nothing_else_is(wheel, tmp_path):
    """Its dependencies are lent by a path file, so that no network is needed; not the checkout."""
    venv.create(tmp_path / "bare", with_pip=False)
    python = tmp_path / "bare" / "bin" / "python"
    site = next((tmp_path / "bare" / "lib").glob("python*/site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    import polars

    lent = Path(polars.__file__).parent.parent
    (site / "lent.pth").write_text(f"{lent}\n")
    run = [str(python), "-c", "from memops.cli import main; main()"]
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def memops(*argv):
        done = subprocess.run(
            [*run, *argv], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 3), done.stderr
        return done.stdout

    where = [str(python), "-c", "import memops; print(memops.__file__)"]
    found = subprocess.run(where, capture_output=True, text=True, check=True, cwd=tmp_path, env=env)
    assert str(site) in found.stdout
    assert "Exit codes" in memops("--help")
    assert "live before" in memops("demo", "--into", "demo")
    pages = list((tmp_path / "demo").rglob("report.html"))
    assert len(pages) == 2
    assert all(b"Content-Security-Policy" in page.read_bytes() for page in pages)
