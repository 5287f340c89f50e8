"""Memory, threads, import: what may not get worse unnoticed. Times are measured by measure.py, on a machine that does nothing else."""

import subprocess
import sys
import threading
import time

import pytest

import saltus

TEXT = "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; when x < 0.5 then reinit(x, 1); end when; end M;"


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_many_calls_do_not_grow() -> None:
    def resident() -> int:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    m = saltus.compile_text(TEXT, "M")

    def calls(n: int) -> None:
        for k in range(n):
            r = m.simulate(stop=2, intervals=20, set={"k": 1 + k % 7 / 10})
            r["x"], r.events
            if k % 10 == 0:
                m.simulator().advance(0.1)

    calls(300)
    before = resident()
    calls(1500)
    assert resident() - before < 6_000, "kilobytes"


def test_other_threads_run_meanwhile() -> None:
    m = saltus.compile_text("model S Real x(start = 0, fixed = true); equation der(x) = cos(3000*time); end S;", "S")
    counted = 0
    longest = 0.0
    done = threading.Event()

    def count() -> None:
        nonlocal counted, longest
        last = time.perf_counter()
        while not done.is_set():
            time.sleep(0.001)
            counted += 1
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    other = threading.Thread(target=count)
    other.start()
    begin = time.perf_counter()
    while time.perf_counter() - begin < 0.5:
        m.simulate(stop=50, intervals=2)
    done.set()
    other.join()
    assert counted > 20 and longest < 0.3


def test_import_loads_little() -> None:
    code = "import sys, saltus; print(sorted(set(sys.modules) & {'numpy', 'pandas', 'json', 'html', 'inspect', 'dataclasses', 'asyncio'}))"
    done = subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}"], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n", done.stdout
