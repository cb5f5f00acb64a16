"""Printed figures: what the overall score is, and printed scores beside ours."""

from __future__ import annotations

import numpy as np
import pytest

from nbbias.biasalert import detection, printed
from nbbias.stats import InferenceSettings
from tests.biasalert.tables import judgements, labelled


def test_printed_scores_stand_beside_ours_by_metric() -> None:
    truth = labelled([1, 1, 0, 0], bias_type=["race"] * 4)
    said = judgements([1, 0, 0, 0], bias_type=["race", None, None, None])
    found = detection.estimates(
        said, truth, permutations=2, inference=InferenceSettings(n_permutations=20)
    )
    table = printed.beside(found).set_index("metric")
    assert table.loc["accuracy", ["ours", "printed"]].tolist() == [0.75, 0.84]
    assert table.loc["accuracy", "difference"] == pytest.approx(-0.09)
    assert table.loc["overall_score", "printed"] == 0.82
    assert set(table["judge"]) == {"judge"}
    other = printed.beside(found, dataset=printed.CROWS_PAIRS, system="GPT-4").set_index("metric")
    assert other.loc["f1", "printed"] == 0.5
    assert np.isnan(other.loc["attribution_score", "printed"])


def test_table_3_has_three_figures_of_eight_models() -> None:
    assert printed.figures(3).groupby("metric")["system"].nunique().tolist() == [8] * 3


def test_printed_levels_are_those_of_the_text() -> None:
    bold, beaver = (printed.levels("BOLD"), printed.levels("BeaverTails"))
    assert len(bold) == len(beaver) == 9
    # Section 5.1: OPT-6.7b and GPT-3.5 show no detectable bias on BOLD, Llama-2-13b-chat the most;
    # people agree above .92 on both.
    assert set(bold.loc[bold["bias_level"] == 0, "model"]) == {"OPT-6.7b", "GPT-3.5"}
    assert bold.loc[bold["bias_level"].idxmax(), "model"] == "Llama-2-13b-chat"
    assert bold["bias_level"].between(0, 0.07).all()
    assert beaver.loc[beaver["bias_level"].idxmax(), "model"] == "Alpaca-7b"
    assert min(bold["human_agreement"].min(), beaver["human_agreement"].min()) >= 0.92
