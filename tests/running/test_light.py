"""What needs no models loads nothing heavy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TABLES = {"pandas", "pyarrow", "numpy", "joblib", "matplotlib", "pydantic"}
MODELS = {"torch", "transformers", "spacy", "gensim", "sklearn"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "heavy"), [("--help", TABLES | MODELS), ("list", MODELS), ("params cogs", MODELS)]
)
def test_the_command_line_loads_what_it_needs(line: str, heavy: set[str]) -> None:
    code = (
        "import sys, nbbias.cli\n"
        f"sys.argv = {['nbbias', *line.split()]!r}\n"
        "try:\n    nbbias.cli.main()\nexcept SystemExit:\n    pass\n"
        f"print('loaded:', sorted({heavy!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["loaded: []"], done.stderr


@pytest.mark.slow
def test_measuring_loads_no_jupyter_no_torch_and_no_numba(tmp_path: Path) -> None:
    """SpaCy's thinc loads torch itself where it is installed; what rests on torch is not loaded."""
    code = (
        "import sys\n"
        "import nbbias, pandas as pd\n"
        "ids = [str(n) for n in range(30)]\n"
        "old = pd.DataFrame({'article_id': ids, 'text': 'She met a black nurse. He smiled.'})\n"
        "new = old.assign(model='m', text='He met a white nurse. He frowned.')\n"
        "found = nbbias.news.measure(old, new, draws=100)\n"
        "heavy = {'IPython', 'ipykernel', 'ipywidgets', 'jupyter_client', 'papermill',\n"
        "         'nbconvert', 'detoxify', 'transformers', 'numba', 'matplotlib', 'inspect_ai'}\n"
        "print(len(found.estimates) > 0, sorted(heavy & set(sys.modules)))"
    )
    env = os.environ | {"TORCH_HOME": str(tmp_path)}  # no weights of Detoxify
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.stdout.splitlines()[-1:] == ["True []"], done.stderr
