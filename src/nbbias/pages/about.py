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
        `run`, description and outcome; `files`, the data with their hashes; `parameters`, of
        `parameters`; `cite`, of `citations`; `yaml`, the content of the file of parameters, and
        `params`, its name.
    """
    study = str(description["study"])
    files = [
        f"{Path(entry['path']).name} (SHA-256 {entry['sha256'][:12]})"
        for entry in description["data"].values()
    ]
    return {
        "run": {**description, **outcome},
        "files": list(dict.fromkeys(files)),
        "parameters": parameters(study, description["parameters"]),
        "cite": citations(home / "CITATION.bib", [study]),
        "yaml": share.yaml_of(study, description["parameters"]),
        "params": share.PARAMS,
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
