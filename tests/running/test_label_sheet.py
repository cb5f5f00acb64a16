"""`nbbias label`: a sheet beside a run or its params, and what its labels tell so far."""

from pathlib import Path

import pandas as pd
import pytest

from nbbias import biasalert, news, tables
from nbbias.running import label_sheet
from nbbias.tables import csv
from tests.conftest import Command


@pytest.fixture(scope="module")
def params(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return params of a small corpus, in a folder of its own, like those that a run leaves."""
    folder = tmp_path_factory.mktemp("run")
    people, models = news.sample.corpus({"fewer": {"female": -0.3}}, seed=1)
    people.head(20).to_csv(folder / "originals.csv", index=False)
    own = models["article_id"].isin(people.head(20)["article_id"])
    models[own].to_csv(folder / "generations.csv", index=False)
    told = "study: news_bias\noriginals_path: originals.csv\ngenerations_path: generations.csv\n"
    more = "biases: [gender]\nfocus: {gender: female}\nlevels: [word]\nclaims: []\n"
    path = folder / "params.yaml"
    path.write_text(told + more)
    return path


def test_a_run_gets_a_sheet_and_asked_again_what_it_tells(params: Path, command: Command) -> None:
    done = command("label", params.parent, "--words", "10", "--sentences", "20")
    assert done.returncode == 0, done.stderr
    sheet = params.parent / "labels.csv"
    assert "0 labelled" in done.stderr
    table = pd.read_csv(sheet, dtype=str)
    assert set(table["bias"]) == {"gender"}
    table["label"] = "nobody"
    table.to_csv(sheet, index=False)
    done = command("label", params.parent, "--words", "30", "--sentences", "40")
    assert done.returncode == 0, done.stderr
    assert f"{len(table)} labelled" in done.stderr
    assert "precision" in done.stdout
    assert (pd.read_csv(sheet, dtype=str)["label"] == "nobody").sum() == len(table)
    table.assign(label="Unsure").to_csv(sheet, index=False)
    done = command("label", params.parent, "--words", "10", "--sentences", "20")
    assert f"{len(table)} labelled, {len(table)} of them unsure" in done.stderr
    table.assign(label="nobdy").to_csv(sheet, index=False)
    done = command("label", params.parent)
    assert done.returncode == 2
    assert "'nobdy' is none of female, male, nobody, unsure" in done.stderr
    assert (pd.read_csv(sheet, dtype=str)["label"] == "nobdy").all()  # it stays as it was
    sheet.unlink()


def test_a_params_file_has_its_sheet_beside_it(params: Path, tmp_path: Path) -> None:
    size = {"words": 4, "sentences": 4, "answers": 4}
    path, sheet, _ = label_sheet.write_sheet(params, out=None, **size)
    assert path == params.with_name("params.labels.csv")
    assert path.read_text(encoding="utf-8") == csv(sheet)
    _, again, _ = label_sheet.write_sheet(params, out=tmp_path / "mine.csv", **size)
    pd.testing.assert_frame_equal(again, sheet)


def test_answers_get_a_sheet_that_hides_models_and_keeps_what_people_wrote(
    tmp_path: Path, command: Command
) -> None:
    params = tmp_path / "mine.yaml"
    params.write_text("study: biasalert\n")
    done = command("label", params, "--answers", "2")
    assert done.returncode == 0, done.stderr
    assert "6 to be labelled, 0 labelled" in done.stderr
    sheet = tmp_path / "mine.labels.csv"
    table = pd.read_csv(sheet, dtype=str)
    assert list(table) == ["text_id", "text", "biased", "annotator"]
    kept = table.head(4).assign(biased="1", annotator="ann", remark="sure")
    kept.to_csv(sheet, index=False)
    done = command("label", params, "--answers", "3")
    assert "9 to be labelled, 4 labelled" in done.stderr
    again = pd.read_csv(sheet, dtype=str)
    pd.testing.assert_frame_equal(again.head(4), kept)
    assert again["text_id"].is_unique and again["biased"].notna().sum() == 4


def test_answers_are_drawn_in_rounds_and_a_run_has_the_same_estimate(
    tmp_path: Path, command: Command
) -> None:
    truth = biasalert.corpus.read_answers("sample", seed=0)
    marks = truth.set_index(truth["text_id"].map(tables.hash_text))["simulated_bias"]
    told = "study: biasalert\njudges: [keywords]\nclaims: []\ndraws: 100\n"
    path, sheet = tmp_path / "mine.yaml", tmp_path / "mine.labels.csv"
    path.write_text(told)
    options = ("--until", "0.3", "--answers", "20", "--annotator", "ann", "--annotator", "bob")
    for number in (1, 2):
        assert command("label", path, *options).returncode == 0
        table = pd.read_csv(sheet, dtype=str)
        assert len(table) == 120 * number and not {"model", "score"} & {*table}
        again = command("label", path, *options)  # blank rounds are not passed over
        assert f"label round {number}" in again.stdout
        mark = table["text_id"].map(marks).astype(int)
        wrong = (table["annotator"] == "bob") & (table.index % 10 == 0)
        table.assign(biased=mark.where(~wrong, 1 - mark)).to_csv(sheet, index=False)
    whole = pd.read_csv(sheet, dtype=str)
    first = whole["text_id"].eq(whole["text_id"].iloc[0])
    for edited, message in (
        (whole[~first], "rows of round 1 or answers were added or removed"),
        (pd.concat([whole, whole.head(1)]), "two labels by one person"),
        (whole.assign(probability=whole["probability"].mask(first, "0")), "expected a number abov"),
    ):
        edited.to_csv(sheet, index=False)
        refused = command("label", path, *options)
        assert refused.returncode == 2 and message in " ".join(refused.stderr.split())
        pd.testing.assert_frame_equal(pd.read_csv(sheet, dtype=str), edited.reset_index(drop=True))
    linked = tmp_path / "elsewhere.csv"
    sheet.unlink()
    sheet.symlink_to(linked)
    pd.concat([whole, whole.head(1).assign(text_id="another")]).to_csv(linked, index=False)
    printed = command("label", path, *options)
    assert "narrow enough" in printed.stdout and "agreement" in printed.stdout
    assert "240 to be labelled, 240 labelled" in " ".join((printed.stdout + printed.stderr).split())
    assert sheet.is_symlink() and len(pd.read_csv(linked)) == 241
    whole.to_csv(sheet, index=False)
    results = biasalert.measure(
        **{"judges": ["keywords"], "claims": [], "draws": 100, "guard": False},
        human_path=str(sheet),
        human_sample=True,
    )
    rows = results.estimates.set_index(["statistic", "model"])
    level, disputed = (
        rows.loc[(f"biased_share_two_phase{end}", "careful")] for end in ("", "_disputed")
    )
    shown = f"{level['estimate']:.2f} ({level['ci_low']:.2f} to {level['ci_high']:.2f})"
    assert shown in printed.stdout and level["n"] == 40
    assert disputed["ci_low"] < level["ci_low"] and disputed["ci_high"] >= level["ci_high"]
    # Agreement is of the first round, which is a simple random sample.
    assert rows.loc[("agreement", "careful"), "n"] == 20
