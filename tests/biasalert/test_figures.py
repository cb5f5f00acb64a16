"""Figures and sentences of biasalert: what is drawn and written equals the tables."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from nbbias import tables
from nbbias.biasalert import (
    checks as errors,
    detection,
    figures,
    levels,
    pairs,
    sentences,
    tables as biasalert_tables,
)
from nbbias.biasalert.knowledge import sample
from nbbias.params import Texts
from nbbias.reading import Lead
from tests.biasalert.tables import judgements, labelled, simulated, value
from tests.biasalert.test_pairs import LESS, MORE, made

SAMPLE = sample.labelled()
SAID = pd.concat(
    [
        simulated(SAMPLE, name="one", refuses=0.1, seed=1),
        simulated(SAMPLE, name="two *", sensitivity=0.6, seed=2),
        judgements([1] * len(SAMPLE), judge="plain", text_id=list(SAMPLE["text_id"])),
    ]
)
FOUND = detection.estimates(pd.concat([SAID, detection.judge_constantly(SAMPLE)]), SAMPLE).estimates
ANSWERS = sample.answers(n=60)
JUDGED = simulated(ANSWERS, truth="simulated_bias", refuses=0.1)
HUMAN = levels.HumanLabels(
    levels.draw_sample(ANSWERS, size=40).merge(
        ANSWERS[["text_id", "simulated_bias"]].rename(columns={"simulated_bias": "biased"})
    ),
    random=True,
)
LEVELS = levels.estimates(ANSWERS, JUDGED, people=HUMAN)


pytestmark = pytest.mark.usefixtures("style")


def dots(ax: plt.Axes) -> list[float]:
    return [
        float(x)
        for line in ax.lines
        if line.get_marker() == "o"
        for x in np.ravel(line.get_xdata())
    ]


def labels(ax: plt.Axes) -> list[str]:
    return [text.get_text() for text in ax.get_yticklabels()]


def test_judges_stand_over_the_printed_ones_and_gaps_keep_their_rows() -> None:
    drawn = figures.detection(FOUND, source="redditbias")
    figure, rows, alt = drawn[:3]
    assert drawn.title.startswith("Accuracy is highest for the one, ")
    assert "Rings: published" in drawn.caption
    assert rows["panel"].unique().tolist() == [figures.OURS, figures.PUBLISHED]
    assert alt.startswith("Accuracy")
    ours, _, below, _ = figure.axes[:4]
    assert labels(ours) == ["one", "two *", "plain"]
    expected = [value(FOUND, "accuracy", judge=j) for j in ("one", "two *", "plain")]
    assert dots(ours) == pytest.approx(expected)
    # The paper prints nine systems.
    assert len(labels(below)) == len(dots(below)) == 9
    assert labels(below)[-1] == "BiasAlert"
    dashed = [line.get_xdata()[0] for line in ours.lines if line.get_linestyle() == "--"]
    assert dashed == [0.5]  # of the two judges that read nothing; half of the sample is biased


def test_without_printed_scores_and_without_rows_a_figure_still_stands() -> None:
    assert len(figures.detection(FOUND).figure.axes) == 2
    nothing = figures.detection(FOUND.head(0)).figure
    assert "nothing was measured" in [t.get_text() for t in nothing.axes[0].texts]
    assert figures.pairs(FOUND.head(0)).figure.axes
    assert figures.levels(LEVELS.head(0), judge="x").figure.axes


def test_pairs_stand_by_direction() -> None:
    found = pairs.estimates(pairs.match_pairs(MORE, LESS, made(5, antistereo=2)))
    figure = figures.pairs(found).figure
    assert len(figure.axes) == 9
    assert dots(figure.axes[2]) == [value(found, "pair_share", dimension=None, bias=None)]
    titles = [ax.get_title(loc="left").split(" · ")[0] for ax in figure.axes[::3]]
    assert titles == ["all pairs", "antistereo", "stereo"]


def test_errors_name_both_columns_though_dialect_has_no_misses() -> None:
    checks = errors.read_checks()
    found = errors.estimates(simulated(checks), checks)
    figure = figures.errors(found).figure
    titles = [ax.get_title(loc="left").replace("\n", " ") for ax in figure.axes if ax.axison]
    named = [title.split(" · ")[1] for title in titles]
    assert named == ["false alarms", "misses"] * 3 + ["false alarms"]
    assert dots(figure.axes[0]) == [value(found, "false_alarm_rate", dimension="reported speech")]


def test_levels_stand_over_the_printed_ones() -> None:
    figure = figures.levels(LEVELS, judge="simulated judge", source="bold").figure
    share, alone, below = figure.axes
    models = ["careful", "careless", "blunt"]
    own = LEVELS[LEVELS["topic"].isna()]
    assert labels(share) == models
    shares = [value(own, "biased_share", model=m) for m in models]
    both = [value(own, "biased_share_two_phase", model=m) for m in models]
    assert dots(share) == pytest.approx([*shares, *both])  # small and grey below the judge's own
    assert alone.get_title(loc="left") == "people's labels alone"
    assert dots(below) == (
        figures.read_published("bold", 6).query("metric == 'bias_level'")["value"].tolist()
    )


# --- sentences ----------------------------------------------------------------------------------


def led(rows: pd.DataFrame) -> Lead:
    return sentences.lead(rows, test=SAMPLE, texts=Texts("own", "mine.csv"))


def test_accuracy_is_written_with_its_null_value_exclusions_and_the_majority_class() -> None:
    first, second, _ = sentences.detection(FOUND)
    row = FOUND[(FOUND["judge"] == "one") & (FOUND["statistic"] == "accuracy")].iloc[0]
    assert f"accuracy **{row['estimate']:.2f}** (95% CI {row['ci_low']:.2f}" in first
    assert f"N = {row['n']:.0f} texts; {row['n_lost']:.0f} excluded" in first
    assert f"permutation of its verdicts {row['null']:.2f}, majority class 0.50" in first
    assert second.startswith(r"two \*: ")  # a name is no markup
    assert led(FOUND).technical == first
    assert "selected as the best" in led(FOUND).plain[1]
    assert led(FOUND.head(0)).plain == ("No judge gave a verdict.",)


def test_a_page_leads_with_the_declared_judge_against_what_it_was_compared_with() -> None:
    row = {"statistic": "accuracy", "judge": "classifier", "estimate": 0.76, "n": 84}
    row |= {"ci_low": 0.64, "ci_high": 0.85, "null": 0.5, "instrument": "words"}
    less = {"statistic": "accuracy_difference", "judge": "majority − classifier", "n": 84}
    less |= {"estimate": -0.26, "ci_low": -0.41, "ci_high": -0.13, "null": 0.0, "p_value": 0.0003}
    same = less | {"judge": "classifier − classifier_alone", "estimate": 0.0, "p_value": 1.0}
    same |= {"ci_low": -0.07, "ci_high": 0.07}
    rows = [{**one, "measure": "detection", "test": "exact test"} for one in (row, less, same)]
    declared = tables.estimates(rows, study="biasalert", confidence=0.95).assign(claim=1)
    lead = led(declared)
    assert lead.plain[0] == (
        "The classifier with evidence agreed with the human label on 76% of 84 held-out texts "
        "(95% CI 64% to 85%); the majority class would reach 50%, a significant difference "
        "(p < .001)."
    )
    # Half of 0.14 over 1.96, times 1.96 + 0.84.
    assert lead.plain[1] == (
        "It did not differ significantly from the classifier alone (minimum detectable difference "
        "at 80% power: 10 percentage points)."
    )
    assert lead.numbers["estimate"].tolist() == [0.76, 0.26, 0.0]
    assert (lead.figure, lead.card["instrument"]) == ("confusion", "words")
    assert lead.claims["judge"].tolist() == ["classifier − majority"]
    more = declared.assign(p_value=0.01).iloc[[0, 2]].assign(estimate=[0.76, 0.2])
    assert led(more).plain[1] == (
        "It was more accurate than the classifier alone, by 20 percentage points."
    )
    # Where the accuracy was not declared, what was compared leads; where nothing was, permutation.
    assert led(declared.tail(1)).plain[0].startswith("The classifier with evidence did not differ")
    assert led(declared.head(1)).plain[1].startswith("Its permuted verdicts would agree with 50%")
    (power,) = sentences.power(declared)
    assert "with 84 texts the minimum detectable difference at 80% power is 10" in power


def test_a_judge_that_is_right_on_the_few_texts_it_judged_does_not_lead() -> None:
    truth = labelled([1, 0] * 6)
    few = judgements([1, 0, 0] + [None] * 9, judge="few")
    both = pd.concat([few, judgements([1] * 12, judge="plain"), judgements([None] * 12)])
    rows = detection.estimates(both, truth).estimates
    assert led(rows).technical.startswith("plain: accuracy **0.50**")
    assert led(rows[rows["judge"] == "judge"]).plain == ("No judge gave a verdict.",)


def test_differences_pairs_and_errors_are_written_with_their_counts() -> None:
    rows = detection.estimate_differences(SAID, SAMPLE).estimates
    said = sentences.differences(rows)
    assert len(said) == 3 and "was more accurate than plain" in said[1]
    assert all("exact test over clusters p" in sentence for sentence in said)
    rows = pairs.estimates(pairs.match_pairs(MORE, LESS, made(5, antistereo=2)))
    (sentence,) = sentences.pairs(rows)
    assert "recall on sent\\_more **0.75**" in sentence and "sent\\_less 0.60" in sentence
    checks = errors.read_checks()
    rows = errors.estimates(simulated(checks), checks)
    (dialect,) = sentences.dialect(rows)
    assert dialect.endswith("(N = 25 pairs).")
    heading = sentences.erring(rows, judge="simulated judge")
    misses = rows[(rows["statistic"] == "miss_rate") & rows["estimate"].notna()]
    worst = misses.loc[misses["estimate"].idxmax()]
    assert f"false negatives on {worst['dimension']} ({worst['estimate']:.0%})" in heading
    silent = judgements([None] * len(checks), text_id=list(checks["text_id"]))
    assert sentences.dialect(errors.estimates(silent, checks)) == []
    nothing = errors.estimates(silent, checks)
    assert "could not be estimated" in sentences.erring(nothing, judge="judge")
    alike = rows[rows["judge"] == "simulated judge"].assign(estimate=0.1)
    assert "are equal on all kinds" in sentences.erring(alike, judge="simulated judge")


def test_levels_are_written_from_labels_and_verdicts_and_elsewhere_are_flags() -> None:
    (said,) = sentences.levels(LEVELS, judge="simulated judge")
    own = LEVELS[LEVELS["topic"].isna()]
    for model in ("blunt", "careless", "careful"):
        share = value(own, "biased_share_two_phase", model=model)
        assert f"**{share:.2f}** for {model} (95% CI " in said
    (flags,) = sentences.levels(levels.estimates(ANSWERS, JUDGED), judge="simulated judge")
    assert "classification errors: how the judge errs" in flags
    assert sentences.levels(LEVELS, judge="x") == ["x judged no answer."]


def test_five_texts_stand_for_all_kinds_and_what_anyone_calls_biased_is_folded() -> None:
    shown = biasalert_tables.examples(SAMPLE, SAID, judge="two *")
    assert len(shown) == 5
    kinds = [head.split(":")[0] for head in shown["head"]]
    assert kinds[:4] == ["True positive", "True negative", "False positive", "False negative"]
    biased = SAMPLE.set_index("text")["biased"]
    hurting = [biased[text] or "positive" in head for head, text in shown[["head", "text"]].values]
    assert shown["folded"].notna().tolist() == hurting
    right = SAID[SAID["judge"] == "two *"].merge(SAMPLE[["text_id", "biased"]], on="text_id")
    same = int((right["biased_x"] == right["biased_y"]).fillna(False).sum())
    assert f"classified {same} correctly" in sentences.counted(SAID, SAMPLE, judge="two *").replace(
        ",", ""
    )
    none = biasalert_tables.examples(SAMPLE, SAID, judge="nobody")
    assert none.empty and list(none) == ["head", "text", "told", "folded"]


def test_tables_lay_out_estimates_and_levels() -> None:
    scores = biasalert_tables.estimates(FOUND, "scores")
    assert set(scores.rows["judge"]) >= {"one", "plain"} and len(scores.rows) == 5 * 8
    whole = biasalert_tables.levels(LEVELS).rows.set_index("model")
    own = LEVELS[LEVELS["topic"].isna()]
    both = value(own, "biased_share_two_phase", model="blunt")
    assert whole.loc["blunt", "biased_share_two_phase"].startswith(f"{both:.2f} [")
    many = pd.concat(
        [ANSWERS.assign(model=f"m{i}", text_id=ANSWERS["text_id"] + f"/{i}") for i in range(15)]
    )
    found = levels.estimates(many, simulated(many, truth="simulated_bias"))
    judged = biasalert_tables.levels(found, judge="simulated judge")
    assert len(judged.rows) == 12 and "3 more" in str(judged.note)
    each = biasalert_tables.estimates(LEVELS, "by_domain").rows
    assert each["n"].sum() + each["n_lost"].sum() == len(ANSWERS)  # each in one domain
    wide = LEVELS.assign(ci_low=0.0, ci_high=1.0, n=84)
    assert set(biasalert_tables.levels(wide).rows["biased_share_two_phase"]) == {"too few"}
    (said,) = sentences.levels(wide, judge="simulated judge")
    assert "unknown for blunt (too few: N = 84)" in said
