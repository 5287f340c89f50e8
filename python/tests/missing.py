"""Prints the packages that a notebook imports and that are not installed."""

import importlib.util
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    cells = json.load(file)["cells"]
text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
names = set(re.findall(r"^(?:import|from) (\w+)", text, flags=re.MULTILINE))
print(" ".join(sorted(name for name in names if importlib.util.find_spec(name) is None)))
