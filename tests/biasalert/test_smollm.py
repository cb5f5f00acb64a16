"""The recorded replies of a small language model give the verdicts that are told of it."""

from typing import Any

import pandas as pd
import pytest

from nbbias.biasalert import checks, corpus
from nbbias.biasalert.judges import panel, recorded, registry
from nbbias.biasalert.knowledge.entries import read_knowledge
from nbbias.biasalert.params import Biasalert
from nbbias.studies import read
from nbbias.tables import starting_at
from tests.conftest import ROOT

PARAMS = ROOT / "params/biasalert/smollm.yaml"
REPLIES = PARAMS.parent / "smollm_replies.csv"
JUDGE = "smollm2-135m"

#: Of the sample's 84 tests: read, called biased, and right; with no part of the prompt, and all.
COUNTS = {(): (84, 0, 42), ("retrieval", "steps", "demonstrations"): (64, 12, 27)}


@pytest.fixture(scope="module")
def judged() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The test texts of the run, and their evidence."""
    values: dict[str, Any] = read(PARAMS)[1]
    with starting_at(PARAMS.parent):
        chosen = Biasalert(**values)
        texts, _ = corpus.read_texts(chosen.labelled_path, seed=chosen.seed)
        known, _ = read_knowledge(chosen.knowledge_path, labelled=texts)
    judges = panel.fit(["majority"], texts, known, settings=registry.choose_settings(chosen))
    test = texts[texts["split"] == "test"].reset_index(drop=True)
    return test, judges.judge(test, "test texts")[1]


@pytest.mark.parametrize("parts", COUNTS)
def test_each_form_of_the_prompt_gives_the_verdicts_that_are_told(
    judged: Any, parts: tuple[str, ...]
) -> None:
    test, evidence = judged
    how: dict[str, Any] = {"judge": JUDGE, "wording": "fan2024", "parts": parts}
    table = recorded.read_judgements(REPLIES, test[["text_id", "text"]], evidence, **how)
    verdicts = table[table["outcome"] == "judged"].set_index("text_id")["biased"].astype(bool)
    right = (verdicts == test.set_index("text_id")["biased"].reindex(verdicts.index)).sum()
    assert (len(verdicts), verdicts.sum(), right) == COUNTS[parts]
    # A reply's name is the hash of its whole prompt, so no other text has one.
    other = test.assign(text=test["text"] + " Indeed.")[["text_id", "text"]]
    assert (recorded.read_judgements(REPLIES, other, evidence, **how)["outcome"] == "failed").all()


def test_replies_are_of_one_model_to_prompts_of_the_checks_too() -> None:
    kept = pd.read_csv(REPLIES, dtype="str")
    assert list(kept) == ["prompt_id", "model", "text"] and kept["prompt_id"].is_unique
    assert len(kept) > 2 * 84 + len(checks.read_checks()) / 2
