"""Claims of a run as records of Every Eval Ever (schema 0.3.0), one for each model.

The schema holds a score of a model that is better higher or lower, with its interval and N. A claim
that is worse on either side of 0, or about no model, has no place there, and is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias.pages import changes
from nbbias.reading import names
from nbbias.tables import NbbiasError

#: What the schema has no field of its own for.
_DETAILS = [
    *("null", "null_low", "null_high", "p_value", "p_adjusted", "test", "claim", "verdict"),
    *("instrument", "source", "prompt", "bias", "group", "dimension", "confidence"),
]


def convert_run(folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a finished run's claims as records, and the names of claims that have no place there.

    Raises
    ------
    NbbiasError
        The folder holds no finished run, or no claim of it has a place in the schema.
    """
    run = changes.read(folder)
    rows = run.declared[run.declared["estimate"].notna()]
    fits = rows["statistic"].map(run.study.worse).isin(["higher", "lower"]) & rows["model"].ne("")
    if not fits.any():
        directed = [name for name, worse in run.study.worse.items() if worse != "apart"]
        problem = "none of its claims is a model's score that is better higher or lower; such are: "
        raise NbbiasError(str(folder), problem + (", ".join(directed) or "none of this study"))
    records = [_record(run, str(model), subset) for model, subset in rows[fits].groupby("model")]
    return records, [names.label(row) for row in rows[~fits].to_dict("records")]


def _record(run: changes.Run, model: str, rows: pd.DataFrame) -> dict[str, Any]:
    started = str(run.manifest["started"])
    stamp = f"{datetime.fromisoformat(started).timestamp():.0f}"
    unknown = dict.fromkeys(("deployment_type", "model_availability"), "unknown")
    source = {"source_type": "evaluation_run", "source_organization_name": "unknown"}
    version = run.manifest.get("versions", {}).get("nbbias", "unknown")
    return {
        "schema_version": "0.3.0",
        "evaluation_id": f"nbbias_{run.manifest['study']}/{model}/{stamp}",
        "evaluation_timestamp": started,
        "retrieved_timestamp": stamp,
        "source_metadata": source | {"evaluator_relationship": "other"},
        "eval_library": {"name": "nbbias", "version": version},
        "model_info": {"name": model, "id": model, "additional_details": unknown},
        "evaluation_results": list(_results(run, rows)),
    }


def _results(run: changes.Run, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    data = [Path(file["path"]).name for file in run.manifest.get("data", {}).values()]
    source = {"dataset_name": ", ".join(data) or "sample of nbbias", "source_type": "other"}
    for row in rows.to_dict("records"):
        details = {name: row[name] for name in _DETAILS if not pd.isna(row.get(name, pd.NA))}
        uncertainty: dict[str, Any] = {"num_samples": int(row["n"])}
        if math.isfinite(row["ci_low"]) and math.isfinite(row["ci_high"]):
            interval = {"lower": row["ci_low"], "upper": row["ci_high"]}
            uncertainty["confidence_interval"] = interval | {"confidence_level": row["confidence"]}
        yield {
            "evaluation_name": f"nbbias {run.manifest['study']}: {names.label(row)}",
            "source_data": source,
            "metric_config": {
                "evaluation_description": names.meaning(row),
                "metric_id": f"nbbias.{row['measure']}.{row['statistic']}",
                "metric_name": names.measure(row),
                "lower_is_better": run.study.worse[row["statistic"]] == "higher",
            },
            "score_details": {
                "score": row["estimate"],
                "details": {name: str(value) for name, value in details.items() if value != ""},
                "uncertainty": uncertainty,
            },
        }
