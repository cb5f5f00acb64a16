"""The registry of studies: the record and the parameters of each study, by its name."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.params import MainEstimate, Parameters, Study, Texts
from nbbias.text.lexicons import LANGUAGES

#: The studies of nbbias by name, and the package of each.
_ROOMS = {"news_bias": "news"} | {
    name: name
    for name in ("biased_prompts", "cogs", "llmbi", "biasalert", "counterfactual", "calibration")
}

#: The studies by name: ours, and those that other packages add by an entry point of the
#: group `nbbias.studies`. Each is loaded when it is first asked for.
STUDIES: tables.Registry[Study] = tables.Registry(
    "nbbias.studies",
    {name: partial(resolve_name, f"nbbias.{room}.params:STUDY") for name, room in _ROOMS.items()},
    Study,
)


#: The folder of the package: where it is installed, notebooks and params lie in it.
PACKAGE = Path(__file__).parent


#: What `nbbias new` leaves in a folder: notebooks are code, and no others are run.
MARK = ".nbbias-folder"


def home() -> Path:
    """Return the folder of `notebooks/` and `params/`.

    It is what `nbbias new` laid out, here or one above, where nobody else can write; else the
    checkout that the package is installed from, or the package.
    """
    here = Path.cwd()
    for folder in (here, here.parent):
        places = [folder, *folder.glob("notebooks"), *folder.glob("notebooks/*.ipynb")]
        if (folder / MARK).is_file() and not any(map(tables.others_write, places)):
            return folder
    checkout = PACKAGE.parents[1]
    return checkout if (checkout / "notebooks").is_dir() else PACKAGE


def place(stem: str) -> Path:
    """Return the folder in which a study's `notebooks/` and `params/` lie: `home`, or its package.

    Examples
    --------
    >>> (place("llmbi") / "notebooks" / "llmbi.ipynb").is_file()
    True
    """
    here = home()
    ours = stem in STUDIES and stem not in STUDIES.packages
    if ours or (here / "notebooks" / f"{stem}.ipynb").is_file():
        return here
    package = STUDIES[stem].parameters.__module__.partition(".")[0]
    return Path(str(sys.modules[package].__file__)).parent


#: The samples that take longest, which are started first.
_LONGEST = ("biased_prompts", "calibration", "counterfactual")


def samples() -> list[Path]:
    """Return every study's sample parameters, those that take longest first."""
    stems = dict.fromkeys((*_LONGEST, *(stem for stem, _ in STUDIES.items())))
    paths = [place(stem) / "params" / stem / "sample.yaml" for stem in stems]
    return [path for path in paths if path.is_file()]


def study(stem: str, *, where: str = "parameters") -> Study:
    """Return the record of a study by its name.

    Parameters
    ----------
    stem
        Name of the study, such as ``"news_bias"``.
    where
        Location that an error message names.
    """
    if stem not in STUDIES:
        message = f"no study called {stem!r}; {tables.closest_match(stem, STUDIES)}"
        raise tables.ParameterError(where, message)
    return STUDIES[stem]


def validate(
    stem: str, values: Mapping[str, Any], *, where: str = "parameters", **context: Any
) -> Parameters:
    """Check values against a study's model, as `params.validate` does.

    Parameters
    ----------
    stem
        Name of the study.
    values
        Parameters that differ from their defaults.
    where
        Location that an error message names.
    """
    model = study(stem, where=where).parameters
    return params.validate(model, values, where=where, listed=stem, **context)


#: What papermill may set besides parameters: all that a params file holds, and its own paths.
_BESIDE = {"study", "generate", "PAPERMILL_INPUT_PATH", "PAPERMILL_OUTPUT_PATH"}


def check(stem: str, namespace: Mapping[str, Any]) -> Parameters:
    """Validate the parameters that stand in a notebook's namespace (its ``globals()``).

    What papermill set is refused, too, where it is no parameter: papermill lets a misspelt name
    pass. So is a params file of another study.
    """
    names = [*study(stem).parameters.model_fields, *_injected(namespace.get("In", ()))]
    values = {name: namespace[name] for name in names if name in namespace}
    where = f"{stem} parameters"
    if values.get("study", stem) != stem:
        raise tables.ParameterError(where, f"study: these are parameters of {values['study']}")
    parameters = {name: value for name, value in values.items() if name not in _BESIDE}
    return validate(stem, parameters, where=where)


def _injected(cells: Iterable[str]) -> list[str]:
    """Return the names that papermill's cell sets, the last such among those executed."""
    written = [cell for cell in cells if cell.startswith("# Parameters\n")][-1:]
    nodes = [node for cell in written for node in ast.walk(ast.parse(cell))]
    return [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def read(path: Path) -> tuple[str, dict[str, Any]]:
    """Read a params file: the study's stem and the values it sets.

    The stem is the key ``study`` or, without one, the name of the file's folder.

    Parameters
    ----------
    path
        A params file.

    Raises
    ------
    ParameterError
        The file is missing, is no YAML mapping, or names no known study.
    """
    values = params.read_yaml(path)
    stem = values.pop("study", path.absolute().parent.name)
    if not isinstance(stem, str) or stem not in STUDIES:
        message = f"no study called {params.shorten(stem)}; set 'study:' to one of: "
        raise tables.ParameterError(str(path), message + ", ".join(STUDIES))
    return stem, values


def main_estimates() -> pd.DataFrame:
    """Return which estimates stand for a study: `study` and the fields of `MainEstimate`."""
    rows = [
        {"study": record.stem, **estimate._asdict()}
        for _, record in STUDIES.items()
        for estimate in record.main_estimates
    ]
    return pd.DataFrame(rows, columns=["study", *MainEstimate._fields])


def texts(study: Study, parameters: Parameters) -> Texts:
    """Say where the texts of a run are from: the sample, a published dataset, or the user.

    Parameters
    ----------
    study
        The record of a study, as `study` returns it.
    parameters
        Parameters of the run.

    Examples
    --------
    >>> texts(study("llmbi"), STUDIES["llmbi"].parameters()).kind
    'hand-written'
    """
    inputs = [name for name in study.inputs if name not in parameters.unread()]
    paths = [tables.notes.split(str(getattr(parameters, name)))[0] for name in inputs]
    files = [Path(path).name for path in paths if path not in {tables.SAMPLE, params.NONE}]
    if not files:
        return study.sample
    corpora = tables.read_shipped_table("words/corpora.csv").set_index("file")["name"]
    names = dict.fromkeys(corpora.get(file, file) for file in files)
    kind = "dataset" if set(files) <= set(corpora.index) else "own"
    addition = "; beside it the sample's" if tables.SAMPLE in paths else ""
    language = LANGUAGES[getattr(parameters, "language", "en")]
    tried = f". {language} word lists were tried on simulated texts only"
    return Texts(kind, "; ".join(names) + addition + tried * (language != "English") + ".")
