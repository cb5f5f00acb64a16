"""The foot of a run's page: what it rests on, how to cite it, how to repeat it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import params, studies, tables
from nbbias.pages import share

#: Longer lists of models or instruments than this are shortened, with their number.
_LONGEST = 8

_FILES = (
    (share.PARAMS, "the parameters of this run, all of them"),
    ("tables/estimates.csv", "every estimate, with its interval and chance level"),
    ("notebook.ipynb", "the executed notebook"),
    ("manifest.json", "versions, hashes, times: written when the run has ended"),
)


def about(
    folder: Path,
    description: Mapping[str, Any],
    outcome: Mapping[str, Any],
    *,
    home: Path,
    place: Path | None = None,
) -> dict[str, Any]:
    """Collect what the foot of a run's page shows, for its template.

    Parameters
    ----------
    folder
        The run's folder, with what its notebook left.
    description
        What the run started from, of `pages.manifest.describe`.
    outcome
        How it ended: `status`, `started`, `seconds`.
    home
        The folder of the notebooks; its ``CITATION.bib`` holds what to cite.
    place
        Where the run's folder will be, if it is not there yet.

    Returns
    -------
    dict
        `label`; `provenance`, pairs of a name and its values; `parameters`, of `parameters`, and
        how many were `changed`; `cite`, of `citations`; `command`, which repeats the run; `yaml`,
        the content of the file of parameters, and `params`, its name; `data`, whether it names
        some; `files`, pairs of a relative path and what it holds.
    """
    study = str(description["study"])
    rows = parameters(study, description["parameters"])
    return {
        "label": f"{study}/{description['run']}",
        "provenance": provenance(folder, description, outcome),
        "parameters": rows,
        "changed": sum(row["changed"] for row in rows),
        "cite": citations(home / "CITATION.bib", [study]),
        "command": command(place or folder),
        "yaml": share.yaml_of(study, description["parameters"]),
        "params": share.PARAMS,
        "data": bool(description["data"]),
        "files": [(path, holds) for path, holds in _FILES if (folder / path).is_file()],
    }


def citations(path: Path, stems: Collection[str]) -> list[str]:
    """Return the entries of a BibTeX file with one of the studies among their keywords.

    Examples
    --------
    >>> citations(Path("no such file"), ["llmbi"])
    []
    """
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    entries = re.findall(r"^@.*?^\}", text, re.DOTALL | re.MULTILINE)
    keywords = [re.search(r"keywords = \{(.*?)\}", entry) for entry in entries]
    return [
        entry
        for entry, match in zip(entries, keywords, strict=True)
        if match and {*stems} & {*match[1].split(", ")}
    ]


def command(folder: Path) -> str | None:
    """Return the command that repeats a run from the current folder.

    None for a run that lies outside of it: its path helps nobody else.
    """
    path, here = (folder / share.PARAMS).absolute(), Path.cwd()
    if not path.is_relative_to(here):
        return None
    words = ["nbbias", "run", path.relative_to(here).as_posix()]
    out = path.parents[2].relative_to(here).as_posix()
    return shlex.join(words if out == "runs" else [*words, "--out", out])


def provenance(
    folder: Path, description: Mapping[str, Any], outcome: Mapping[str, Any]
) -> list[tuple[str, list[str]]]:
    """Return what a run rests on: data, models, instruments, claims, when, and which code."""
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
    """Say how many claims were declared, and whether the notebook shows these."""
    parameters = description["parameters"]
    number, sha256 = len(parameters["claims"]), description["claims_sha256"][:12]
    if number == 0:
        return "none: all is exploratory"
    notebook = folder / "notebook.ipynb"
    shown = notebook.is_file() and sha256 in notebook.read_text(encoding="utf-8")
    where = "those that lead" if shown else "not shown below"
    model = studies.STUDIES[description["study"]].parameters
    kind = "pre-specified" if model.pre_specified(parameters) else "default claims of this study"
    return f"{number} {kind} (SHA-256 {sha256}), {where}"


def _distinct(table: pd.DataFrame | None, column: str) -> list[str]:
    if table is None or column not in table:
        return []
    entries = table[column].dropna().astype(str).unique()
    # Where two judges or scorers are compared, both instruments are in one cell.
    values = list(dict.fromkeys(value for entry in entries for value in entry.split("; ")))
    more = len(values) - _LONGEST
    return [*values[:_LONGEST], f"and {more} more"] if more > 0 else values


def _data(description: Mapping[str, Any]) -> list[str]:
    files = [
        f"{Path(entry['path']).name} (SHA-256 {entry['sha256'][:12]})"
        for entry in description["data"].values()
    ]
    return list(dict.fromkeys(files)) or ["the sample that the package brings"]


def parameters(stem: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a study's parameters with the run's values; `changed` where one is not the default.

    Value and default are written as in a params file.
    """
    rows = []
    for row in studies.describe(stem).to_dict("records"):
        value, default = values.get(row["name"], row["default"]), row["default"]
        written = {
            "value": params.as_yaml(value, flow=True),
            "default": params.as_yaml(default, flow=True),
        }
        rows.append({**row, **written, "changed": value != default})
    return rows
