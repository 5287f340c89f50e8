"""``python -m saltus`` is the program."""

import subprocess
import sys
from pathlib import Path

import saltus

BALL = "model B Real h(start = 1, fixed = true); equation der(h) = -h; end B;"


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "saltus", *arguments], cwd=cwd, capture_output=True, text=True, timeout=60)


def test_it_simulates_and_says_how_it_ended(tmp_path: Path) -> None:
    (tmp_path / "B.mo").write_text(BALL)
    done = run("simulate", "B.mo", "--output", "r.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    table = (tmp_path / "r.csv").read_text().splitlines()
    assert table[0].startswith('"time"')
    api = saltus.compile(tmp_path / "B.mo").simulate()
    assert len(table) - 1 == len(api.time)
    assert float(table[-1].split(",")[table[0].split(",").index('"h"')]) == api.final("h")


def test_exit_codes_are_those_of_the_program(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout.strip() == f"saltus {saltus.__version__}"
    assert run("nonsense", cwd=tmp_path).returncode == 2
    (tmp_path / "W.mo").write_text("model W Real x = y; end W;")
    wrong = run("check", "W.mo", cwd=tmp_path)
    assert wrong.returncode == 1 and "unknown-name" in wrong.stderr
    assert "unknown-name" in run("explain", "unknown-name", cwd=tmp_path).stdout
