"""Parameters: every mistake is named at once, and told within bounds."""

from pathlib import Path
from typing import Any, get_args

import pytest

from nbbias import params, studies as registry, tables
from nbbias.asking.params import Generate
from nbbias.llmbi.params import Llmbi
from nbbias.pages import share
from nbbias.studies import STUDIES
from nbbias.tables import ParameterError
from tests.conftest import ROOT

DEFAULTS = Llmbi().model_dump()


def only_breach(**values: Any) -> str:
    with pytest.raises(ParameterError) as caught:
        registry.validate("llmbi", values)
    (breach,) = caught.value.breaches
    return breach


# --- values -----------------------------------------------------------------------------------


def test_given_values_win_over_the_defaults() -> None:
    assert registry.validate("llmbi", {}).model_dump() == DEFAULTS
    values = {"seed": 100, "weights": {"Gender": 2.0}}
    checked = registry.validate("llmbi", values)
    assert checked.model_dump() == DEFAULTS | values
    with pytest.raises(ValueError, match="frozen"):
        checked.seed = 5
    with pytest.raises(ValueError, match="frozen"):
        Generate(models=["m/m"], prompts="llmbi").prompts = "cogs"


def test_a_message_lists_what_is_known_and_shows_what_was_given() -> None:
    assert all(name in only_breach(zzzzz=1) for name in DEFAULTS)
    near = "did you mean lambda_factor? See `nbbias params llmbi`"
    assert only_breach(lamda_factor=1.0).endswith(near)
    assert only_breach(seed=-1).endswith("but got -1")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("confidence", 1.0),
        ("weights", {"Age": 100.1}),
        ("lambda_factor", float("nan")),
        ("weights", {"Age": float("inf")}),
    ],
)
def test_a_value_out_of_range_is_refused(name: str, value: object) -> None:
    assert only_breach(**{name: value}).startswith(name)


# --- files ------------------------------------------------------------------------------------


def test_a_path_stays_as_written_and_its_file_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").touch()
    monkeypatch.setenv("PARAMS_HOME", str(tmp_path))
    found = registry.validate("llmbi", {"answers_path": "${PARAMS_HOME}/a.csv"})
    assert found.answers_path == "${PARAMS_HOME}/a.csv"
    assert params.input_files(found) == {"answers_path": tmp_path / "a.csv"}


# --- the notebook's namespace -----------------------------------------------------------------


def injected(**values: Any) -> dict[str, Any]:
    """Return a namespace as papermill leaves it: a cell of its own before the one that opens."""
    cell = "\n".join(["# Parameters", *(f"{name} = {value!r}" for name, value in values.items())])
    return DEFAULTS | values | {"In": ["", "seed: int = 1", cell, "import x", "y = 1"], "y": 1}


def test_a_name_that_papermill_lets_pass_is_refused_with_the_nearest() -> None:
    with pytest.raises(ParameterError) as caught:
        registry.check("llmbi", injected(lambda_factr=0.5, seed="many", nothing_like_it=[1]))
    assert len(caught.value.breaches) == 3
    assert "lambda_factr: unknown parameter; did you mean lambda_factor?" in str(caught.value)


def test_what_papermill_sets_and_other_cells_set_passes() -> None:
    study = {"study": "llmbi", "generate": {"models": ["a"]}, "PAPERMILL_INPUT_PATH": "x.ipynb"}
    assert registry.check("llmbi", injected(**study, lambda_factor=0.5)).seed == DEFAULTS["seed"]
    # What a reader sets in other cells is no parameter, and of papermill's cell the last counts.
    again = injected(lambda_factr=0.5)
    again["In"] += ["# Parameters\nlambda_factor = 0.5", "# Parameters of mine\nx = 1"]
    registry.check("llmbi", again)


def test_a_params_file_of_another_study_is_refused_by_papermill_too() -> None:
    with pytest.raises(ParameterError, match="study: these are parameters of cogs"):
        registry.check("llmbi", injected(study="cogs"))


# --- description ------------------------------------------------------------------------------

studies = pytest.mark.parametrize("stem", list(STUDIES))


@studies
def test_the_description_lists_every_field_with_its_meaning(stem: str) -> None:
    table = params.describe(STUDIES[stem].parameters).set_index("name")
    fields = STUDIES[stem].parameters.model_fields
    assert sorted(table.index) == sorted(fields)
    assert table["meaning"].str.len().gt(0).all()
    assert table["default"].to_dict() == {name: f.default for name, f in fields.items()}


def test_the_description_writes_ranges_and_choices_out() -> None:
    ranges = params.describe(STUDIES["llmbi"].parameters).set_index("name")["range"]
    assert ranges["confidence"] == "> 0.5, < 1"
    assert ranges["lambda_factor"] == "≥ 0, ≤ 100"
    assert ranges["aggregation"] == "mean | sum"
    assert ranges["weights"] == "≥ 0, ≤ 100 each"


@studies
def test_the_cell_is_python_whose_defaults_and_annotations_are_the_models(stem: str) -> None:
    namespace: dict[str, Any] = {}
    source = params.cell_source(STUDIES[stem].parameters)
    exec(compile(source, "cell", "exec", dont_inherit=True), namespace)
    defaults = STUDIES[stem].parameters().model_dump()
    assert {name: namespace[name] for name in defaults} == defaults
    annotations = namespace["__annotations__"]
    assert set(annotations) == set(defaults)
    for name, kind in annotations.items():
        assert type(defaults[name]) in (get_args(kind) or (kind,)), name


def test_all_parameters_written_to_a_file_are_the_same_parameters(tmp_path: Path) -> None:
    stem = "news_bias"
    found = registry.validate(*registry.read(ROOT / "params" / stem / "sample.yaml"))
    text = params.as_yaml({"study": stem, **found.model_dump()})
    path = tables.write(tmp_path / share.PARAMS, text)
    read, values = registry.read(path)
    assert read == stem
    assert set(values) == set(STUDIES[stem].parameters.model_fields)
    assert registry.validate(stem, values) == found
