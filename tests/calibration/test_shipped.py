"""`params/calibration/full.yaml` gives the rows that ship: two cheap measures of it."""

from pathlib import Path

import pandas as pd
import pytest

from nbbias import calibration, tables
from nbbias.params.yaml import read_yaml

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llmbi/index", "biasalert/gate"])  # repeats of its own, default
def test_the_full_run_gives_the_rows_that_ship(name: str) -> None:
    values = read_yaml(ROOT / "params/calibration/full.yaml")
    values = {key: value for key, value in values.items() if key != "study"}
    results = calibration.measure(**values, measures=[name])
    summary = calibration.summarize(results.outcomes, results.families, confidence=0.95)
    power = results.minimum_detectable_effects
    for table, file in ((summary, "calibration.csv"), (power, "calibration_power.csv")):
        shipped = tables.read_shipped_table(file)
        shipped = shipped[shipped["study"] + "/" + shipped["measure"] == name]
        shipped = shipped.reset_index(drop=True)
        pd.testing.assert_frame_equal(table.round(4), shipped, check_dtype=False)
