"""Declared claims: refused with the nearest names, all at once, and hashed by what they say."""

from pathlib import Path
from typing import Any

import pytest

from nbbias import notebook, params, studies
from nbbias.pages import manifest
from nbbias.studies import STUDIES
from nbbias.tables import ParameterError
from tests.conftest import ROOT

RBS = {"measure": "rbs", "statistic": "rbs"}


def breach(*claims: dict[str, Any]) -> str:
    with pytest.raises(ParameterError) as caught:
        studies.validate("cogs", {"claims": list(claims)})
    (told,) = caught.value.breaches
    return told


@pytest.mark.parametrize("stem", STUDIES)
def test_every_study_declares_a_few_claims_that_hold_as_given_ones(stem: str) -> None:
    claims = studies.validate(stem, {}).claims
    assert 1 <= len(claims) <= 4
    assert studies.validate(stem, {"claims": claims}).claims == claims


def test_all_mistakes_in_all_claims_are_named_at_once() -> None:
    told = breach(
        {"modle": "a", "statistic": "rsb"},
        RBS,
        RBS,
        {"measure": "rbs"},
        {"measure": "ads", "statistic": "abs"},
        {"measure": "agreement", "statistic": "abs_raw"},
        {**RBS, "model": 4, "smallest_effect": -0.1},
    )
    assert told == (
        "claims: 1: modle is not a key; did you mean model?; 1: no statistic 'rsb'; did you mean "
        "rbs?; 3: occurs twice; 4: names no statistic; 5: no measure 'ads'; did you mean abs?; "
        "6: no statistic 'abs_raw' of agreement; known: fleiss_kappa, krippendorff_alpha; "
        "7: model must be text, but is 4 (put it in quotes); "
        "7: smallest_effect must be a number above 0, but is -0.1"
    )


def test_a_run_declares_eight_claims_at_most() -> None:
    claims = [RBS | {"model": f"m{number}"} for number in range(9)]
    assert len(studies.validate("cogs", {"claims": claims[:8]}).claims) == 8
    assert "at most 8" in breach(*claims)


def test_the_hash_is_of_what_is_said_not_of_how() -> None:
    """And whatever the order of keys: that is the function's example."""
    changed = [[], [RBS, RBS], [{**RBS, "model": "a"}], [{**RBS, "smallest_effect": 0.1}]]
    assert len({params.claims_sha256(claims) for claims in [[RBS], *changed]}) == 5


def test_notebook_and_manifest_hash_the_same_before_data_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_OUT", str(tmp_path))
    given = {"claims": [{"statistic": "index", "model": "gpt-4"}]}
    checked = studies.validate("llmbi", given)
    opened = notebook.open("llmbi", given)
    described = manifest.describe("llmbi", "x", checked, ROOT / "notebooks/llmbi.ipynb")
    assert described["claims_sha256"] == params.claims_sha256(given["claims"])
    assert opened.analysis_sha256 == described["analysis_sha256"]
    changed = notebook.open("llmbi", {"claims": [{"statistic": "index", "model": "gpt-3"}]})
    assert changed.analysis_sha256 != opened.analysis_sha256


def test_the_hash_of_an_analysis_is_of_scorers_seeds_and_what_files_hold(tmp_path: Path) -> None:
    one, same, other = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    for path, model in ((one, "m"), (same, "m"), (other, "n")):
        path.write_text(f"model,prompt_id,text\n{model},age-1,They are kind.\n")

    def sha256(**values: object) -> str:
        return params.analysis_sha256(studies.validate("llmbi", values))

    ours = sha256(answers_path=str(one))
    assert sha256(answers_path=str(same)) == ours  # wherever the file is
    changed = [{"answers_path": str(other)}, {"seed": 3}, {"confidence": 0.9}]
    assert len({ours, *(sha256(**{"answers_path": str(one), **how}) for how in changed)}) == 4


def test_other_analyses_of_the_same_data_are_counted_also_those_replaced(tmp_path: Path) -> None:
    data = tmp_path / "a.csv"
    data.write_text("model,prompt_id,text\nm,age-1,They are kind.\n")
    book, folder = ROOT / "notebooks/llmbi.ipynb", tmp_path / "runs"
    for name, values in (("x", {}), ("y", {"seed": 1}), ("x", {"seed": 2, "confidence": 0.9})):
        checked = studies.validate("llmbi", {"answers_path": str(data), **values})
        described = manifest.describe("llmbi", name, checked, book)
        described["earlier"] = manifest.earlier(described, folder / name)
        manifest.write(folder / name, described, status="failed", started="2024", seconds=1.0)
    checked = studies.validate("llmbi", {"answers_path": str(data), "seed": 4})
    found = manifest.earlier(manifest.describe("llmbi", "x", checked, book), folder / "x")
    assert sorted(run["run"] for run in found) == ["x", "x", "y"]
    assert {"seed"} < {name for run in found for name in run["differs"]}
