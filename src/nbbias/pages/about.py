"""The head and the foot of a run's page: what it rests on, how to cite it, how to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import params, studies, tables
from nbbias.pages import cite, share

#: Longer lists of models or instruments than this are shortened, with their number.
_LISTED = 8


def about(
    folder: Path,
    description: Mapping[str, Any],
    outcome: Mapping[str, Any],
    *,
    home: Path,
    place: Path | None = None,
) -> dict[str, Any]:
    """Collect what a page says of its run, for the page's template.

    Parameters
    ----------
    folder
        The run's folder, with what its notebook left.
    description
        What the run started from, as `pages.manifest.describe` gives it.
    outcome
        How it ended: `status`, `started`, `seconds`.
    home
        The folder of the notebooks; its ``CITATION.cff`` says what to cite.
    place
        Where the run's folder will be, if it is not there yet.

    Returns
    -------
    dict
        `label`; `provenance`, pairs of a name and its values; `parameters`, as `parameters` returns
        them, and how many were `changed`; `cite`, from `pages.cite.citations`; `command`, which
        repeats the run; `yaml`, what the file of parameters holds, and `params`, its name; `data`,
        whether it names some; `files`, pairs of a relative path and what it holds.
    """
    label = f"{description['study']}/{description['run']}"
    rows = parameters(str(description["study"]), description["parameters"])
    return {
        "label": label,
        "provenance": provenance(folder, description, outcome),
        "parameters": rows,
        "changed": sum(row["changed"] for row in rows),
        "cite": cite.citations(home / "CITATION.cff", [str(description["study"])]),
        "command": command(place or folder),
        "yaml": share.yaml_of(str(description["study"]), description["parameters"]),
        "params": share.PARAMS,
        "data": bool(description["data"]),
        "files": [(path, what) for path, what in _FILES if (folder / path).is_file()],
    }


def command(folder: Path) -> str | None:
    """Return the command that repeats a run from the folder in which it was started.

    None for a run that is kept outside of it: its path is nobody else's.
    """
    path, here = (folder / share.PARAMS).absolute(), Path.cwd()
    if not path.is_relative_to(here):
        return None
    words = ["nbbias", "run", path.relative_to(here).as_posix()]
    out = path.parents[2].relative_to(here).as_posix()
    return shlex.join(words if out == "runs" else [*words, "--out", out])


_FILES = (
    (share.PARAMS, "the parameters of this run, all of them"),
    ("tables/estimates.csv", "every estimate, with its interval and chance level"),
    ("notebook.ipynb", "the executed notebook"),
    ("manifest.json", "versions, hashes, times: written when the run has ended"),
)


def provenance(
    folder: Path, description: Mapping[str, Any], outcome: Mapping[str, Any]
) -> list[tuple[str, list[str]]]:
    """Return what a run rests on: study, corpus, models, instruments, when, and which code."""
    estimates = tables.saved_table(folder, "estimates")
    commit = description["git"]["commit"]
    changed = ", with uncommitted changes" if description["git"]["dirty"] else ""
    code = f"{commit[:12]}{changed}" if commit else "no repository"
    started = str(outcome["started"])[:16].replace("T", " ")
    versions = description["versions"]
    rows = [
        ("Data", _data(description)),
        ("Models", _distinct(estimates, "model")),
        ("Instruments", _distinct(estimates, "instrument")),
        ("Claims", [_claims(folder, description)]),
        ("Run", [f"{started} UTC, {float(outcome['seconds']):.0f} s, {outcome['status']}"]),
        ("Code", [f"nbbias {versions['nbbias']}, Python {versions['python']}, commit {code}"]),
    ]
    return [(name, values) for name, values in rows if values]


def _claims(folder: Path, description: Mapping[str, Any]) -> str:
    """Say how many claims were declared, and whether it is these that the notebook shows."""
    parameters = description["parameters"]
    number, sha256 = len(parameters["claims"]), description["claims_sha256"][:12]
    if number == 0:
        return "none: all is exploratory"
    notebook = folder / "notebook.ipynb"
    shown = notebook.is_file() and sha256 in notebook.read_text(encoding="utf-8")
    told = "those that lead" if shown else "not shown below"
    model = studies.STUDIES[description["study"]].parameters
    whose = "pre-specified" if model.pre_specified(parameters) else "default claims of this study"
    return f"{number} {whose} (SHA-256 {sha256}), {told}"


def _distinct(table: pd.DataFrame | None, column: str) -> list[str]:
    if table is None or column not in table:
        return []
    told = table[column].dropna().astype(str).unique()
    # Where two judges or scorers are compared, both instruments stand in one cell.
    found = list(dict.fromkeys(one for entry in told for one in entry.split("; ")))
    more = len(found) - _LISTED
    return [*found[:_LISTED], f"and {more} more"] if more > 0 else found


def _data(description: Mapping[str, Any]) -> list[str]:
    files = [
        f"{Path(entry['path']).name} (SHA-256 {entry['sha256'][:12]})"
        for entry in description["data"].values()
    ]
    return list(dict.fromkeys(files)) or ["the sample that the package brings"]


def parameters(stem: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a study's parameters with the run's values; `changed` where one is not the default.

    Value and default are written as a params file would.
    """
    rows = []
    for row in studies.describe(stem).to_dict("records"):
        value = values.get(row["name"], row["default"])
        told = {
            name: params.as_yaml(one, flow=True)
            for name, one in {"value": value, "default": row["default"]}.items()
        }
        rows.append({**row, **told, "changed": value != row["default"]})
    return rows
