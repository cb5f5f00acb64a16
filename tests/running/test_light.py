"""What needs no models loads nothing heavy."""

import subprocess
import sys

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
