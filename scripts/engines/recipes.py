"""Runs the `python` blocks of the documentation, each in a process of its own and
in a folder that looks like a clone. usage: recipes.py ROOT"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1]).resolve()
failed = ran = 0
for name in ("doc/engines.md", "python/README.md"):
    text = (root / name).read_text()
    for m in re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S):
        line = text[: m.start()].count("\n") + 1
        needs = set(re.findall(r"^(?:import|from) (pyspark|duckdb|datafusion|polars)\b", m[1], re.M))
        missing = [p for p in needs if subprocess.run([sys.executable, "-c", f"import {p}"], capture_output=True).returncode]
        if missing:
            print(f"NOT RUN: {name}:{line}: {', '.join(missing)} is not installed")
            continue
        with tempfile.TemporaryDirectory() as work:
            os.symlink(root / "testdata", pathlib.Path(work) / "testdata")
            env = {**os.environ, "PYSPARK_PYTHON": sys.executable}
            done = subprocess.run([sys.executable, "-W", "ignore", "-c", m[1]], cwd=work, env=env, capture_output=True, text=True)
        ran += 1
        if done.returncode:
            failed += 1
            print(f"FAIL {name}:{line}\n{done.stdout}{done.stderr}")
print(f"{ran} recipes, {failed} failures")
sys.exit(failed != 0 or ran == 0)
