"""What the package costs: import, call, threads, engines. Run against an installed release wheel: ``python measure.py``."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import saltus

BALL = """
model Ball
  parameter Real mu = 0.8, g = 9.81;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -g;
  when h < 0 then reinit(v, -mu*pre(v)); end when;
end Ball;
"""


def best(work: Callable[[], Any], repeat: int = 7) -> float:
    """Seconds of the fastest of some tries: what others do on the machine is left out."""
    seconds = []
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def resident() -> int:
    """Megabytes of this process."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) // 1024


def main() -> None:
    def importing(what: str) -> float:
        return best(lambda: subprocess.run([sys.executable, "-c", what], check=True))

    print(f"import saltus: {1e3 * (importing('import saltus') - importing('pass')):.0f} ms over an empty interpreter")

    ball = saltus.compile_text(BALL, "Ball")
    n = 2000
    cases: list[dict[str, Any]] = [{} for _ in range(n)]

    def calls() -> None:
        for _ in range(n):
            ball.simulate(stop=0.1, intervals=2)

    rust = best(lambda: ball.sweep(cases=cases, measure="h", stop=0.1, intervals=2, jobs=1)) / n
    python = best(calls) / n
    print(f"a run of {1e6 * rust:.1f} µs in Rust takes {1e6 * python:.1f} µs from Python: {1e6 * (python - rust):.1f} µs more")

    before = resident()
    for _ in range(10_000):
        ball.simulate(stop=1)["h"]
    print(f"10 000 calls: {before} MB before, {resident()} MB after")

    def long() -> None:
        for _ in range(20):
            ball.simulate(stop=2.2, intervals=20_000)

    def two() -> None:
        threads = [threading.Thread(target=long) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    one = best(long, 3)
    print(f"two threads: {2 * one / best(two, 3):.2f} times one, on {os.cpu_count()} cores")

    try:
        from distributed import Client, LocalCluster
    except ImportError:
        return
    many: dict[str, Any] = dict(lhs={"mu": (0.3, 0.9), "g": (1.0, 10.0)}, count=20_000, measure="max(v)", stop=3)
    serial = best(lambda: ball.sweep(jobs=1, **many), 2)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        same = ball.sweep(executor=client, **many) == ball.sweep(**many)
        dask = best(lambda: ball.sweep(executor=client, **many), 3)
    print(f"20 000 cases: {serial:.2f} s on one core, {dask:.2f} s on two workers of Dask: efficiency {serial / dask / 2:.0%}; equal: {same}")


if __name__ == "__main__":
    main()
