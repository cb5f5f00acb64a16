"""What a run was made from: versions, commit, parameters, data, and how it ended."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel

from nbbias import tables
from nbbias.params import Parameters, analysis_sha256, claims_sha256, input_files
from nbbias.tables import NbbiasError

NAME = "manifest.json"


def git_state(folder: Path) -> dict[str, Any]:
    """Return the commit of the checkout at a folder and whether it has uncommitted changes."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return {"commit": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain"))}
    except (OSError, subprocess.CalledProcessError):
        return {"commit": None, "dirty": None}


def describe(stem: str, run: str, parameters: Parameters, notebook: Path) -> dict[str, Any]:
    """Collect what a run starts from; `write` adds how it ended.

    Returns
    -------
    dict
        `study`, `run`, `parameters` and their hash, that of the declared claims among them, that of
        all that is analysed (`params.analysis_sha256`), `data`
        (of each file that a parameter names, path, hash, and the runs of `nbbias generate` that
        asked for what it holds), the notebook's hash, `seed`, `versions`, `git`, `platform`.
    """
    values = parameters.model_dump()
    data = {
        name: {"path": str(path), "sha256": tables.file_sha256(path), "asked_in": _asked_in(path)}
        for name, path in input_files(parameters).items()
    }
    return {
        "study": stem,
        "run": run,
        "parameters": values,
        "parameters_sha256": tables.hash_json(values),
        "claims_sha256": claims_sha256(parameters.claims),
        "analysis_sha256": analysis_sha256(parameters),
        "data": data,
        "notebook_sha256": tables.file_sha256(notebook),
        "seed": parameters.seed,
        "versions": tables.versions(),
        "git": git_state(notebook.parent),
        "platform": platform.platform(),
    }


def _asked_in(path: Path) -> list[str]:
    """Return the runs of `nbbias generate` whose answers a table that it exported holds."""
    try:
        asked = pd.read_parquet(path, columns=["key", "asked_at", "run"])
    except (OSError, ValueError, LookupError):
        return []
    return sorted(asked["run"].dropna().astype(str).unique())


def earlier(description: Mapping[str, Any], folder: Path) -> list[dict[str, Any]]:
    """Return the other analyses of the same data that stand beside a run, or stood in its place.

    Parameters
    ----------
    description
        What the run starts from, of `describe`.
    folder
        Where it will stand; runs beside it are read, and those that they replaced.

    Returns
    -------
    list of dict
        One each: `run`, `started`, `analysis_sha256` and `differs`, the parameters of other values.
    """
    data = _digests(description)
    analyses: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.parent.glob(f"*/{NAME}")) if data else []:
        if _digests(other := read(path.parent) or {}) == data and "analysis_sha256" in other:
            ours, theirs = description["parameters"], other["parameters"]
            differs = sorted(k for k in {*ours, *theirs} if ours.get(k) != theirs.get(k))
            entry = {key: other[key] for key in ("run", "started", "analysis_sha256")}
            for record in (*other.get("earlier", []), entry | {"differs": differs}):
                analyses[record["analysis_sha256"]] = record
    analyses.pop(description["analysis_sha256"], None)
    return list(analyses.values())[-_MOST_EARLIER:]


def _digests(description: Mapping[str, Any]) -> list[str]:
    return sorted(entry["sha256"] for entry in description.get("data", {}).values())


def changed(description: Mapping[str, Any]) -> list[str]:
    """Return the files of a description that are no longer what they were."""
    files = {Path(file["path"]): file["sha256"] for file in description.get("data", {}).values()}
    return [str(p) for p, sha in files.items() if not p.is_file() or tables.file_sha256(p) != sha]


def write(folder: Path, description: Mapping[str, Any], **outcome: Any) -> None:
    """Write `pages.manifest.json`, atomically; it is the last file of a run."""
    text = json.dumps({**outcome, **description}, indent=2, ensure_ascii=False, default=str)
    tables.write(folder / NAME, text + "\n")


class _Entry(BaseModel):
    path: str
    sha256: str
    asked_in: list[str] = []


#: Other analyses that a manifest lists, at most.
_MOST_EARLIER = 1000


class _Earlier(BaseModel):
    run: str
    started: str
    analysis_sha256: str
    differs: list[str] = []


class _Manifest(BaseModel):
    """What every reader of a manifest may rely on; it may come from anywhere."""

    status: str
    study: str
    run: str
    started: str
    seconds: float = 0.0
    parameters: dict[str, Any] = {}
    data: dict[str, _Entry] = {}
    earlier: list[_Earlier] = []
    versions: dict[str, str] = {}
    error: dict[str, Any] | None = None
    git: dict[str, Any] | None = None


#: The status of a run whose files cannot be read.
UNREADABLE = "unreadable"


def read(folder: Path) -> dict[str, Any] | None:
    """Return a run's manifest; None where there is none.

    Of a run whose manifest, or whose estimates, cannot be read, it is one that says so: its
    `status` is ``"unreadable"`` and its `error` why.
    """
    if not os.path.lexists(path := folder / NAME):
        return None
    damaged = NAME
    try:
        if not path.is_file():  # a pipe would be waited for
            raise ValueError("is not a file")
        content = json.loads(path.read_text(encoding="utf-8"))
        _Manifest.model_validate(content, strict=True)
        if content["status"] == "ok":
            damaged = "tables/estimates"
            if (estimates := tables.saved_table(folder, "estimates")) is not None:
                estimates[["study", "model", "measure", "bias", "group", "statistic", "reason"]]
                estimates[["estimate", "ci_low", "ci_high", "null", "n", "p_value"]].astype(float)
    except (NbbiasError, OSError, LookupError, RecursionError, TypeError, ValueError) as error:
        names = {"study": folder.absolute().parent.name, "run": folder.name, "started": ""}
        problem = {"message": f"{damaged}: {error}"}
        return _Manifest(status=UNREADABLE, **names, error=problem).model_dump()
    return dict(content)


def read_finished(folder: Path) -> dict[str, Any]:
    """Return the manifest of a finished run, or refuse the folder."""
    if (content := read(folder)) is None or content["status"] != "ok":
        raise NbbiasError(str(folder), "holds no finished run; `nbbias list` shows those that are")
    return content
