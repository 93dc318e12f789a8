"""The examples of how memops is run in a team: what they call is there and does what they say."""

import configparser
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from memops import cli

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "flows" / "examples"


def unit(name):
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str
    parser.read(EXAMPLES / name, encoding="utf-8")
    return parser


def store(folder, name, text):
    (folder / f"{name}.jsonl").write_text(json.dumps({"id": "a", "text": text}) + "\n", "utf-8")
    return f'[stores.{name}]\naddress = "jsonl:{folder}/{name}.jsonl"\n'


def helps(capsys, name, arguments):
    """Whether the arguments are a command of that name with options that it has."""
    code = cli.run([*arguments, "--help"])
    return code == 0 and f"Usage: memops {name}" in capsys.readouterr().out


def test_the_service_runs_a_night_of_every_store(tmp_path):
    service = unit("memops.service")["Service"]
    config, state = tmp_path / "memops.toml", tmp_path / "state"
    config.write_text(
        store(tmp_path, "en", "The office is in Lisbon.")
        + store(tmp_path, "zh", "办公室在里斯本。")
    )
    assert service["StateDirectoryMode"] == "0700" and service["ReadWritePaths"].startswith("-/")
    command = service["ExecStart"].replace("/etc/memops/memops.toml", str(config))
    command = shlex.split(command.replace("/var/lib/memops", str(state)))
    assert command[:2] == ["/usr/bin/env", "memops"]
    run = [str(Path(sys.executable).parent / "memops"), *command[2:], "--json"]
    old = os.umask(0)
    try:
        done = subprocess.run(run, capture_output=True, text=True, check=False)
    finally:
        os.umask(old)
    assert done.returncode in {0, *map(int, service["SuccessExitStatus"].split())}, done.stderr
    assert {"en", "zh"} == {night["store"] for night in json.loads(done.stdout)}
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_takes_the_units():
    files = [str(EXAMPLES / name) for name in ("memops.service", "memops.timer")]
    said = subprocess.run(
        ["systemd-analyze", "verify", *files], capture_output=True, text=True, check=True
    )
    assert not [line for line in said.stderr.splitlines() if "memops." in line], said.stderr
    when = unit("memops.timer")["Timer"]["OnCalendar"]
    subprocess.run(["systemd-analyze", "calendar", when], check=True, stdout=subprocess.DEVNULL)


def test_the_compose_file_calls_what_there_is(capsys):
    pytest.importorskip("prefect")
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((EXAMPLES / "compose.yaml").read_text("utf-8"))["services"]
    for name in ("server", "memops"):
        build = services[name]["build"]
        assert (ROOT / build["context"] / build["dockerfile"]).is_file()
    assert all(port.startswith("127.0.0.1:") for port in services["server"]["ports"])
    environment = services["server"]["environment"]
    pytest.importorskip(environment["PREFECT_SERVER_DATABASE_DRIVER"].split("+")[1])
    assert address(environment | {"PREFECT_SERVER_DATABASE_PASSWORD": "a/b@c:d"}) == "a/b@c:d"
    seen = environment["PREFECT_SERVER_UI_API_URL"].removesuffix("/api")
    assert seen == services["memops"]["environment"]["PREFECT_UI_URL"]
    assert seen.removeprefix("${UI:-http://").removesuffix("}") in services["server"]["ports"][0]
    compile(services["server"]["healthcheck"]["test"][-1], "healthcheck", "exec")
    command = services["memops"]["command"]
    assert any(f"{command[1]}:ro" in volume for volume in services["memops"]["volumes"])
    assert helps(capsys, "serve", [os.devnull if c == command[1] else c for c in command])
    start = services["server"]["entrypoint"]
    assert start[:3] == ["prefect", "server", "start"] and "--host" in start


def address(environment):
    """The password that Prefect's server goes to its database with."""
    asked = (
        "from sqlalchemy.engine import make_url\n"
        "from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL as url\n"
        "print(make_url(url.value()).password)"
    )
    given = {k: v for k, v in environment.items() if k.startswith("PREFECT_SERVER_DATABASE")}
    done = subprocess.run(
        [sys.executable, "-c", asked],
        env=os.environ | given,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_an_image_holds_neither_state_nor_stores():
    left_out = (ROOT / ".dockerignore").read_text("utf-8").split("\n")
    assert {"**/.memops", "stores", "memops.toml", ".git", ".venv"} <= set(left_out)


def test_the_container_runs_as_a_user_who_owns_its_state(capsys):
    lines = (EXAMPLES / "Containerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    words = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    order = [word for word, _ in words]
    (run,) = (rest for word, rest in words if word == "RUN")
    assert "install -d -o memops -g memops -m 700 /state" in run and "--create-home" in run
    assert order.index("RUN") < order.index("USER") < order.index("VOLUME")
    said = dict(words)
    command = json.loads(said["ENTRYPOINT"]) + json.loads(said["CMD"])
    assert command[0] == "memops" and helps(capsys, "nightly", command[1:])
