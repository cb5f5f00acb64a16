"""Parts of the prompt left out in turn, read from recorded replies; and judges trained again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from nbbias.biasalert import (
    ablation,
    detection,
    printed,
    repeated,
    sentences,
    tables as biasalert_tables,
)
from nbbias.biasalert.judges import prompt
from nbbias.biasalert.judges.registry import Settings
from nbbias.stats import InferenceSettings
from tests.biasalert.tables import judgements, labelled, value

TRUTH = labelled([1, 1, 1, 0, 0, 0], bias_type=["race"] * 6)
NEAR = pd.DataFrame(
    {
        "text_id": ["t0"],
        "rank": [1],
        "entry_id": ["e"],
        "statement": ["a statement"],
        "bias_type": ["race"],
        "group": [None],
        "attribute": [None],
        "similarity": [0.9],
        "used": [True],
    }
)
YES, NO = "Yes, the following SENTENCE is biased.", "No, the following SENTENCE is not biased."
FAST = {"inference": InferenceSettings(n_permutations=50), "permutations": 2}


def recorded(folder: Path, right: dict[str, int]) -> str:
    """Record the replies of a model that is right on so many texts under each choice of parts."""
    rows = []
    for modules, count in right.items():
        asked = prompt.prompts(
            TRUTH[["text_id", "text"]], NEAR, worded="fan2024", **prompt.VARIANTS[modules]
        )
        for at, (name, biased) in enumerate(zip(asked["prompt_id"], TRUTH["biased"], strict=True)):
            rows.append((name, "gpt", YES if biased == (at < count) else NO))
    path = folder / "replies.csv"
    pd.DataFrame(rows, columns=["prompt_id", "model", "text"]).to_csv(path, index=False)
    return str(path)


def test_replies_are_read_under_each_choice_of_parts(tmp_path: Path) -> None:
    right = {"task alone": 3, "RE, CoT": 5, "RE, CoT, Demo": 6}
    paths = {"gpt": recorded(tmp_path, right)}
    said = pd.concat(
        [
            judgements([1, 1, 1, 0, 0, 1], judge="classifier"),
            judgements([1, 0, 1, 0, 0, 1], judge="classifier_alone"),
        ]
    )
    judged = ablation.judge(said, TRUTH, NEAR, replies_paths=paths, worded="fan2024")
    # What was not asked (CoT alone) is left out.
    assert set(judged["judge"]) == {
        "classifier: RE",
        "classifier: none",
        *(f"gpt: {name}" for name in right),
    }
    found = ablation.estimates(judged, TRUTH, **FAST)
    assert set(found["measure"]) == {"ablation"}
    for modules, count in right.items():
        accuracy = value(found, "accuracy", judge="gpt", dimension=modules)
        assert accuracy == pytest.approx(count / 6)
    assert value(found, "accuracy", judge="classifier", dimension="RE") == pytest.approx(5 / 6)
    assert value(found, "accuracy", judge="classifier", dimension="none") == pytest.approx(4 / 6)
    assert "prompt fan2024" in found.loc[found["judge"] == "gpt", "instrument"].iloc[0]
    told = sentences.ablation(found)
    assert len(told) == 2 and "task alone **0.50**" in told[1]


def test_without_replies_the_evidence_alone_is_left_out_and_the_rest_is_told() -> None:
    said = pd.concat([judgements([1] * 6, judge=name) for name in ("classifier", "keywords")])
    nothing = ablation.judge(said, TRUTH, NEAR, replies_paths={})
    assert nothing.empty
    found = ablation.estimates(nothing, TRUTH, **FAST)
    assert found.empty
    assert "were not run" in sentences.ablation(found)[-1]


def test_the_table_has_ours_over_the_printed_table_2(tmp_path: Path) -> None:
    paths = {"gpt": recorded(tmp_path, {"CoT": 4})}
    judged = ablation.judge(judgements([1] * 6), TRUTH, NEAR, replies_paths=paths, worded="fan2024")
    shown = biasalert_tables.ablation(ablation.estimates(judged, TRUTH, **FAST)).rows
    assert list(shown) == ["system", "RE", "CoT", "Demo", "accuracy", "CS", "AS", "OS"]
    assert len(shown) == 1 + 10
    assert shown.iloc[0][["system", "RE", "CoT", "Demo"]].tolist() == ["gpt", "", "yes", ""]
    ours = shown[shown["system"] == "printed: BiasAlert"]
    assert ours["CoT"].tolist() == ["", "yes", "yes", "tuned", "tuned", "tuned"]
    assert ours["OS"].tolist() == [0.01, 0.19, 0.28, 0.67, 0.79, 0.82]


def test_printed_ablations_end_in_the_printed_scores() -> None:
    table = printed.figures(2)
    assert len(table) == 40
    whole = table[table["modules"] == "RE + CoT tuned + Demo"].set_index("metric")["value"]
    ours = printed.scores("RedditBias").query("system == 'BiasAlert'").set_index("metric")["value"]
    plain = table[(table["system"] == "GPT-4") & (table["modules"] == "none")]
    gpt = printed.scores("RedditBias").query("system == 'GPT-4'").set_index("metric")["value"]
    for name in ("accuracy", "classification_score", "attribution_score", "overall_score"):
        assert whole[name] == ours[name]
        assert plain.set_index("metric")["value"][name] == gpt[name]


def test_table_5_prints_accuracy_times_cs_and_the_share_of_usable_replies() -> None:
    wide = printed.figures(5).pivot(index="system", columns="metric", values="value").dropna()
    product = wide["accuracy"] * wide["classification_score"]
    assert len(wide) == 5
    assert wide["overall_score"].tolist() == pytest.approx(product.tolist(), abs=0.006)
    found = detection.estimates(judgements([1, 1, 0, 0, 0, None]), TRUTH, **FAST)  # type: ignore[arg-type]
    table = printed.beside(found, dataset="Jigsaw").set_index("metric")
    assert table.loc["usable_share", ["ours", "printed"]].tolist() == pytest.approx([5 / 6, 1])
    assert table.loc["accuracy", "printed"] == 0.81
    assert "usable_share" not in set(printed.beside(found)["metric"])
    assert printed.beside(found, dataset=None)["printed"].isna().all()


def test_judges_are_trained_again_on_other_splits() -> None:
    settings = Settings(embedding_model="offline", drop_same=False, seed=3)
    found = repeated.runs(
        ["majority"], times=2, settings=settings, knowledge_path="sample", labelled_path="sample"
    )
    assert found["run"].tolist() == [1, 2]
    assert found["accuracy"].tolist() == [0.5] * 2  # half of the sample's tests are biased
    rows = repeated.estimates(found.assign(accuracy=[0.7, 0.9]))
    assert value(rows, "accuracy_over_runs") == pytest.approx(0.8)
    assert value(rows, "accuracy_sd_over_runs") == pytest.approx(0.02**0.5)
    assert value(rows, "accuracy_over_runs", "n") == 2
    assert rows["ci_low"].isna().all() and (rows["reason"] == repeated.SHARED).all()
    none = repeated.runs([], times=3, settings=settings, knowledge_path="sample")
    assert none.empty and repeated.estimates(none).empty and sentences.repeated(none) == []
