"""Runs the validator of FOCUS with these arguments, also on Python 3.10 and 3.11.

One expression of it needs Python 3.12. It reads its list of currencies from the working directory.
"""

import importlib.util
import os
import sys
from pathlib import Path

NEEDS_PYTHON_312 = """f"'{k.replace('\\"', '\\"\\"')}'\""""
SAME = """"'" + k.replace('"', '""') + "'\""""

root = Path(importlib.util.find_spec("focus_validator").origin).parent
converter = root / "config_objects" / "focus_to_duckdb_converter.py"
source = converter.read_text(encoding="utf-8")
if NEEDS_PYTHON_312 in source:
    converter.write_text(source.replace(NEEDS_PYTHON_312, SAME), encoding="utf-8")

os.chdir(root.parent)
from focus_validator.main import main  # noqa: E402

main()
