"""What somebody does who may write to the state folder: files whose own digests are right."""

import hashlib
import shutil

from memops import files
from memops.state import planfile, seals


def forged(folder, **changed):
    """A copy of a plan whose header says something else, named by the header's own digest."""
    header = files.read_json(folder / "plan.json") | changed
    copy = folder.with_name(planfile.plan_id(header))
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    files.write_json(copy / "plan.json", header)
    return copy


def sealed(folder, at=None):
    """Seal a plan's folder anew with the key of its state, as if it had been made at that time."""
    state, at = folder.parent.parent, at or seals.made(folder)["at"]
    value = {"plan": files.read_json(folder / "plan.json"), "at": at}
    files.write_json(folder / "made.json", {"at": at, "seal": seals.seal(state, "plan", value)})
    return folder


def rewritten(path, **changed):
    """A file with a digest of itself that says something else, its digest mended."""
    held = files.read_json(path) | changed
    held.pop("sha256", None)
    held["sha256"] = hashlib.sha256(files.json_bytes(held)).hexdigest()
    path.write_bytes(files.json_bytes(held))
