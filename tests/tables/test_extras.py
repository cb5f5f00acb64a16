"""What is not installed is told in one sentence, before a run starts and by whatever loads it."""

import re
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest

from nbbias import cli
from nbbias.asking import call
from nbbias.asking.params import Generate
from nbbias.running import kernel, plan as run_plan
from nbbias.tables import ExtraError, NbbiasError, datasets
from nbbias.tables.packages import EXTRAS
from nbbias.text import embeddings, toxicity

NEEDS = 'this needs nbbias[{0}]: pip install "nbbias[{0}]"'
BLOCK = Generate(models=["openai/a"], prompts="llmbi")


@pytest.fixture(autouse=True)
def _light(monkeypatch: pytest.MonkeyPatch) -> None:
    """No extra is installed: none can be found, and none was imported."""
    found = PathFinder.find_spec

    def find(name: str, path: Any = None, target: Any = None) -> Any:
        return None if name.partition(".")[0] in EXTRAS else found(name, path, target)

    monkeypatch.setattr(PathFinder, "find_spec", find)
    for name in list(sys.modules):
        if name.partition(".")[0] in EXTRAS:
            monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize(
    ("load", "what", "extra"),
    [
        (lambda: embeddings.embed(["a text"], model="a-folder"), "sentence embeddings", "local"),
        (lambda: toxicity.score(["a text"], scorer="unbiased"), "toxicity by unbiased", "local"),
        (lambda: call.open_model("openai/a", BLOCK, temperature=None), "asking models", "llm"),
        (lambda: next(datasets.fetch("xstest")), "nbbias data fetch xstest", "data"),
        (kernel.open_lab, "nbbias lab", "lab"),
    ],
)
def test_whatever_loads_a_model_tells_which_extra(
    load: Callable[[], Any], what: str, extra: str
) -> None:
    with pytest.raises(ExtraError) as told:
        load()
    assert str(told.value) == f"{what}: {NEEDS.format(extra)}"


@pytest.mark.parametrize(
    ("stem", "values", "needed"),
    [
        ("news_bias", {"toxicity_scorer": "original", "levels": ["word"]}, []),
        ("biased_prompts", {}, ["generations_path"]),
        ("biasalert", {"toxicity_scorer": "original"}, ["embedding_model", "toxicity_scorer"]),
    ],
)
def test_a_plan_tells_by_parameter_what_a_run_needs(
    stem: str, values: dict[str, Any], needed: list[str], tmp_path: Path
) -> None:
    path = tmp_path / f"{stem}.yaml"
    path.write_text(f"study: {stem}\n" + "".join(f"{k}: {v}\n" for k, v in values.items()))
    if not needed:
        assert len(run_plan.plan([path], out=tmp_path)) == 1
        return
    with pytest.raises(NbbiasError) as told:
        run_plan.plan([path], out=tmp_path)
    breaches = [f"{name}: {NEEDS.format('local')}" for name in needed]
    assert (told.value.where, told.value.breaches) == (str(path), breaches)


def test_all_samples_are_those_that_can_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stems: set[str] = set()
    monkeypatch.setattr(cli, "_run", lambda plan, **_: stems.update(run.stem for run in plan))
    cli.studies_command(out=tmp_path)
    assert stems == {"news_bias", "llmbi", "calibration"}
    left_out = re.findall(r"left out \S*/params/(\w+)/sample.yaml", capsys.readouterr().err)
    assert {*left_out} == {"biased_prompts", "cogs", "biasalert", "counterfactual"}
    (tmp_path / "file").touch()
    with pytest.raises(NbbiasError, match="not a folder"):  # what is no lack of packages
        cli.studies_command(out=tmp_path / "file")
