"""The foot of a run's page: what it rests on, how to cite it, how to repeat it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from nbbias import params, studies
from nbbias.pages import share


def about(
    description: Mapping[str, Any], outcome: Mapping[str, Any], *, home: Path
) -> dict[str, Any]:
    """Collect what the foot of a run's page shows, for its template.

    Parameters
    ----------
    description
        What the run started from, of `pages.manifest.describe`.
    outcome
        How it ended: `status`, `started`, `seconds`.
    home
        The folder of the notebooks; its ``CITATION.bib`` holds what to cite.

    Returns
    -------
    dict
        `provenance`, pairs of a name and its values; `parameters`, of `parameters`, and how many
        were `changed`; `cite`, of `citations`; `yaml`, the content of the file of parameters, and
        `params`, its name; `finished`.
    """
    study = str(description["study"])
    rows = parameters(study, description["parameters"])
    return {
        "provenance": provenance(description, outcome),
        "parameters": rows,
        "changed": sum(row["changed"] for row in rows),
        "cite": citations(home / "CITATION.bib", [study]),
        "yaml": share.yaml_of(study, description["parameters"]),
        "params": share.PARAMS,
        "finished": outcome["status"] == "ok",
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


def provenance(
    description: Mapping[str, Any], outcome: Mapping[str, Any]
) -> list[tuple[str, list[str]]]:
    """Return what a run rests on: data, claims, when, and which code."""
    files = [
        f"{Path(entry['path']).name} (SHA-256 {entry['sha256'][:12]})"
        for entry in description["data"].values()
    ]
    commit = description["git"]["commit"]
    changed = ", with uncommitted changes" if description["git"]["dirty"] else ""
    code = f"{commit[:12]}{changed}" if commit else "no repository"
    started = str(outcome["started"])[:16].replace("T", " ")
    versions, number = description["versions"], len(description["parameters"]["claims"])
    others = description.get("earlier", [])
    differing = sorted({name for run in others for name in run["differs"]})
    earlier = (
        [f"{len(others)}, with other values of {', '.join(differing)}"] if others else ["none"]
    )
    return [
        ("Data", list(dict.fromkeys(files)) or ["the sample that the package brings"]),
        ("Claims", [f"{number} declared (SHA-256 {description['claims_sha256'][:12]})"]),
        *([("Other analyses of these data", earlier)] if files else []),
        ("Run", [f"{started} UTC, {float(outcome['seconds']):.0f} s, {outcome['status']}"]),
        ("Code", [f"nbbias {versions['nbbias']}, Python {versions['python']}, commit {code}"]),
    ]


def parameters(stem: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a study's parameters with the run's values; `changed` where one is not the default.

    Value and default are written as in a params file.
    """
    rows = params.describe(studies.study(stem).parameters)
    current = [values.get(name, default) for name, default in rows[["name", "default"]].to_numpy()]
    changed = [a != b for a, b in zip(current, rows["default"], strict=True)]
    written = {
        name: [params.as_yaml(value, flow=True) for value in column]
        for name, column in (("value", current), ("default", rows["default"]))
    }
    return rows.assign(**written, changed=changed).to_dict("records")
