"""What Fan et al. (2024) print, against its own parts."""

from nbbias import tables

PARTS = ["accuracy", "classification_score", "attribution_score"]


def test_printed_overall_scores_are_products_but_for_one() -> None:
    """Of three digits' rounding; Table 2 prints three systems of Table 1 once more."""
    printed = tables.read_published("fan2024").fillna({"modules": ""})
    keys = ["table", "system", "dataset", "modules"]
    wide = printed.pivot(index=keys, columns="metric", values="value").reset_index()
    wide = wide.dropna(subset=[*PARTS, "overall_score"]).drop_duplicates([*PARTS, "overall_score"])
    low, high = ((wide[PARTS] + end).prod(axis=1) for end in (-0.005, 0.005))
    equal = wide["overall_score"].between(low - 0.005, high + 0.005)
    assert (len(wide), equal.sum()) == (13, 12)
    other = wide[~equal].iloc[0]
    assert (other["modules"], other["overall_score"]) == ("RE + CoT", 0.28)
    assert round(other[PARTS].prod(), 2) == 0.32


def test_the_entries_of_table_4_do_not_add_up_to_the_41000_of_the_text() -> None:
    printed = tables.read_published("fan2024")
    assert printed.loc[printed["table"] == 4, "value"].sum() == 38_793
