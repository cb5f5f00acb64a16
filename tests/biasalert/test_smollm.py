"""The recorded replies of a small language model give the verdicts that are told of it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from nbbias.biasalert import ablation, checks, corpus
from nbbias.biasalert.judges import panel, prompt, recorded, registry
from nbbias.biasalert.params import Biasalert
from nbbias.studies import read
from nbbias.tables import starting_at
from tests.conftest import ROOT

PARAMS = ROOT / "params/biasalert/smollm.yaml"
JUDGE = "smollm2-135m"

#: Of the sample's 84 tests, as docs/decisions/0010 has them: read, called biased, and right.
TOLD = {"task alone": (84, 0, 42), "RE, CoT, Demo": (65, 13, 27)}

#: Of the 180 checks: read, and right.
CHECKED = (127, 71)


@pytest.fixture(scope="module")
def judged() -> tuple[pd.DataFrame, ...]:
    """The test texts of the run, their evidence, its judge's verdicts; evidence of the checks."""
    values: dict[str, Any] = read(PARAMS)[1]
    with starting_at(PARAMS.parent):
        chosen = Biasalert(**values)
        texts, _ = corpus.texts(chosen.labelled_path, seed=chosen.seed)
        known, _ = corpus.knowledge(chosen.knowledge_path, labelled=texts)
        judges = panel.fit(
            ["majority"],
            texts,
            known,
            settings=registry.settings(chosen),
            replies_paths=chosen.replies_paths,
        )
        test = texts[texts["split"] == "test"].reset_index(drop=True)
        said, evidence = judges.judge(test, "test texts")
        checked, found = judges.judge(checks.checks(), "checks")
    own = [one[one["judge"] == JUDGE].reset_index(drop=True) for one in (said, checked)]
    return test, evidence, own[0], found, own[1]


def replies() -> pd.DataFrame:
    return pd.read_csv(PARAMS.parent / "smollm_replies.csv", dtype="str")


def test_each_form_of_the_prompt_gives_the_verdicts_that_are_told(judged: Any) -> None:
    test, evidence, said, _, checked = judged
    assert said["instrument"].str.startswith("recorded replies, prompt fan2024").all()
    found = ablation.judge(
        said,
        test,
        evidence,
        worded="fan2024",
        replies_paths={JUDGE: str(PARAMS.parent / "smollm_replies.csv")},
    )
    truth = test.set_index("text_id")["biased"]
    counts = {}
    for modules, own in found.groupby("modules"):
        verdicts = own[own["outcome"] == "judged"].set_index("text_id")["biased"].astype(bool)
        right = (verdicts == truth.reindex(verdicts.index)).sum()
        counts[modules] = (len(verdicts), int(verdicts.sum()), int(right))
    assert counts == TOLD
    known = checked["outcome"] == "judged"
    right = checked.loc[known, "biased"].astype(bool) == checks.checks().loc[known, "biased"]
    assert (known.sum(), right.sum()) == CHECKED
    whole = found[found["modules"] == "RE, CoT, Demo"].reset_index(drop=True)
    assert whole["biased"].tolist() == said["biased"].tolist()


def test_replies_are_to_texts_of_this_project_alone(judged: Any) -> None:
    # By hand: a reply's name is the hash of its whole prompt, so no other corpus has one.
    test, evidence, _, found, _ = judged
    kept = replies()
    assert list(kept) == ["prompt_id", "model", "text"] and kept["prompt_id"].is_unique
    asked = {
        name
        for form in prompt.VARIANTS.values()
        for name in prompt.prompts(test, evidence, worded="fan2024", **form)["prompt_id"]
    }
    asked |= set(prompt.prompts(checks.checks(), found, worded="fan2024")["prompt_id"])
    assert set(kept["prompt_id"]) <= asked
    other = test.assign(text=test["text"] + " Indeed.")
    lost = recorded.read_judgements(
        kept, other[["text_id", "text"]], evidence, judge=JUDGE, others=True, worded="fan2024"
    )
    assert (lost["outcome"] == "failed").all()
