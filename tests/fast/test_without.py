"""The core without `nbbias.fast` and without numba."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nbbias

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_text_tests_pass_without_the_folder_and_without_numba(tmp_path: Path) -> None:
    fast = shutil.ignore_patterns("fast", "__pycache__")
    shutil.copytree(Path(nbbias.__file__).parent, tmp_path / "nbbias", ignore=fast)
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=fast)
    (tmp_path / "numba.py").write_text("raise ImportError('numba is not installed')\n")
    names = ("annotate", "topics", "sentiment", "lexicons", "substitution", "embeddings")
    tests = [f"tests/text/test_{name}.py" for name in names]
    line = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider"]
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([*line, *tests], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
