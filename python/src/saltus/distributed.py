"""Sweeps on an engine that is there: Dask, Ray, ``concurrent.futures``, joblib.

``Model.sweep(executor=…)`` comes here. The engine gets batches of cases that take 0.1 to 1 s each, as measured on the way; a worker loads the model once. Rows come back in the
order of the cases, so the table is the serial one bit by bit. A batch whose worker was lost is given again. No scheduler is made here.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import _saltus
from ._errors import SaltusError

SECONDS_WANTED = 0.4
"""A batch should take so long: long against the cost of sending it, short against the whole."""
SECONDS_MIN, SECONDS_MAX = 0.1, 1.0
_TRIES = 4
"""A batch is given so often before its loss counts as an error."""
_AHEAD = 2
"""Batches that are under way for each worker: one that is computed, one that waits."""

Row = tuple[list[float | None], float | None, str, str]
"""Measures, the time that was reached, the status, the message of an error."""

_models: dict[str, _saltus.Model] = {}
"""The models that this worker has loaded, by the checksum of their bytes."""
_MODELS_MAX = 8


def _model(key: str, content: bytes) -> _saltus.Model:
    model = _models.get(key)
    if model is None:
        while len(_models) >= _MODELS_MAX:
            _models.pop(next(iter(_models)))
        model = _models[key] = _saltus.Model.from_bytes(content)
    return model


def run_batch(key: str, content: bytes, options: dict[str, Any], cases: list[dict[str, Any]]) -> tuple[float, list[Row]]:
    """What a worker does: the rows of some cases, and the seconds that they took."""
    begin = time.perf_counter()
    model = _model(key, content)
    loaded = time.perf_counter()
    rows, why = model.sweep(cases, options["measures"], options["run"], 1)
    if why is not None:
        raise why
    end = time.perf_counter()
    # Loading happens once: it says nothing about the next batch.
    return end - (loaded if loaded - begin > 0.01 else begin), [row[1:] for row in rows]


class Engine:
    """An engine: takes work, gives back what is done first."""

    workers: int

    def submit(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def first_done(self, running: list[Any]) -> Any:
        """One of those that are done; waits for it."""
        raise NotImplementedError

    def result(self, handle: Any) -> Any:
        """What it has computed; raises `Lost` if the worker was lost."""
        raise NotImplementedError

    def share(self, content: bytes) -> Any:
        """The bytes of a model, in the form that workers get them with the least work."""
        return content

    def close(self) -> None:
        """Gives back what was shared."""


class Lost(Exception):
    """A worker was lost with its work."""


class _Futures(Engine):
    """``concurrent.futures``: processes or threads."""

    def __init__(self, executor: Any) -> None:
        self.executor = executor
        self.workers = int(getattr(executor, "_max_workers", 0) or 1)

    def submit(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return self.executor.submit(work, *arguments)

    def first_done(self, running: list[Any]) -> Any:
        from concurrent.futures import FIRST_COMPLETED, wait

        done = wait(running, return_when=FIRST_COMPLETED).done
        return next(handle for handle in running if handle in done)

    def result(self, handle: Any) -> Any:
        from concurrent.futures.process import BrokenProcessPool

        try:
            return handle.result()
        except BrokenProcessPool as error:
            # The pool ends with its first lost process; nothing can be given to it again.
            raise SaltusError("a process of the pool was lost, and the pool with it; Dask and Ray go on without it") from error


class _Dask(Engine):
    """The client of a Dask cluster."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.workers = max(1, sum(client.nthreads().values()))
        self.shared: Any = None

    def share(self, content: bytes) -> Any:
        # A task, not scattered data: what a lost worker held is computed again from the text that the scheduler keeps.
        self.shared = self.client.submit(bytes, content, retries=_TRIES)
        return self.shared

    def submit(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return self.client.submit(work, *arguments, pure=False, retries=_TRIES)

    def first_done(self, running: list[Any]) -> Any:
        import distributed
        from distributed.client import FuturesCancelledError

        wait: Any = distributed.wait
        try:
            done = wait(running, return_when="FIRST_COMPLETED").done
        except FuturesCancelledError:
            # The scheduler gave some up; `result` says of the first that it is lost.
            done = {handle for handle in running if handle.cancelled()}
        return next(handle for handle in running if handle in done)

    def result(self, handle: Any) -> Any:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        try:
            return handle.result()
        except (KilledWorker, FutureCancelledError) as error:
            raise Lost(str(error)) from error


class _Ray(Engine):
    """Ray, which is connected already, or started here."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray
        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self.remote = ray.remote(max_retries=_TRIES)(run_batch)

    def share(self, content: bytes) -> Any:
        return self.ray.put(content)

    def submit(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return self.remote.remote(*arguments)

    def first_done(self, running: list[Any]) -> Any:
        done, _ = self.ray.wait(running, num_returns=1)
        return done[0]

    def result(self, handle: Any) -> Any:
        from ray.exceptions import ObjectLostError, WorkerCrashedError

        try:
            return self.ray.get(handle)
        except (WorkerCrashedError, ObjectLostError) as error:
            raise Lost(str(error)) from error


class _Joblib(Engine):
    """joblib, which takes all work at once: batches are measured on the first one."""

    def __init__(self, parallel: Any) -> None:
        self.parallel = parallel
        jobs = int(parallel.n_jobs or 1)
        if jobs < 0:
            import os

            jobs = max(1, (os.cpu_count() or 1) + 1 + jobs)
        self.workers = jobs


def engine_of(executor: Any) -> Engine:
    """What is behind an executor: a Dask ``Client``, the module ``ray``, an executor of ``concurrent.futures``, or a ``joblib.Parallel``."""
    module = type(executor).__module__.split(".")[0]
    if getattr(executor, "__name__", None) == "ray" or executor == "ray":
        import ray

        return _Ray(ray)
    if module == "distributed":
        return _Dask(executor)
    if module == "joblib":
        return _Joblib(executor)
    if callable(getattr(executor, "submit", None)):
        return _Futures(executor)
    raise SaltusError(
        f"{type(executor).__name__} is no engine for a sweep: give a Dask Client, the module ray, an executor of concurrent.futures, or a joblib.Parallel"
    )


def sweep(
    content: bytes,
    cases: Sequence[dict[str, Any]],
    options: dict[str, Any],
    executor: Any,
    told: Callable[[float, float, float], object] | None = None,
) -> list[Row]:
    """The rows of the cases, in their order. `told` hears how many are done, nought, and how many there are."""
    engine = engine_of(executor)
    key = hashlib.sha256(content).hexdigest()
    if isinstance(engine, _Joblib):
        return _with_joblib(engine, key, content, cases, options)
    shared = engine.share(content)
    rows: list[Row | None] = [None] * len(cases)
    sizes = Sizes(len(cases), engine.workers)
    waiting: list[tuple[int, int, int]] = []  # batches that were lost: from, to, how often
    running: dict[Any, tuple[int, int, int]] = {}
    done = begin = 0
    try:
        while done < len(cases):
            while len(running) < _AHEAD * engine.workers and (waiting or begin < len(cases)):
                if waiting:
                    first, last, tries = waiting.pop()
                else:
                    first, last, tries = begin, min(len(cases), begin + sizes.next(len(cases) - begin)), 0
                    begin = last
                handle = engine.submit(run_batch, (key, shared, options, list(cases[first:last])))
                running[handle] = (first, last, tries)
            handle = engine.first_done(list(running))
            first, last, tries = running.pop(handle)
            try:
                seconds, computed = engine.result(handle)
            except Lost as error:
                if tries + 1 >= _TRIES:
                    raise SaltusError(f"the workers of runs {first} to {last - 1} were lost {_TRIES} times: {error}") from error
                waiting.append((first, last, tries + 1))
                continue
            rows[first:last] = computed
            done += last - first
            sizes.took(last - first, seconds)
            if told is not None:
                told(done, 0, len(cases))
    finally:
        for handle in running:
            cancel = getattr(handle, "cancel", None)
            if callable(cancel):
                cancel()
        engine.close()
    return [row for row in rows if row is not None]


def _with_joblib(
    engine: _Joblib, key: str, content: bytes, cases: Sequence[dict[str, Any]], options: dict[str, Any]
) -> list[Row]:
    from joblib import delayed

    sizes = Sizes(len(cases), engine.workers)
    rows: list[Row] = []
    while len(rows) < len(cases):
        left = len(cases) - len(rows)
        size = sizes.next(left)
        # All that is left once the first batches have told how long a run takes.
        count = engine.workers if sizes.seconds is None else -(-left // size)
        starts = range(len(rows), min(len(cases), len(rows) + count * size), size)
        work = (delayed(run_batch)(key, content, options, list(cases[k : k + size])) for k in starts)
        for k, (seconds, computed) in zip(starts, engine.parallel(work)):
            sizes.took(min(size, len(cases) - k), seconds)
            rows.extend(computed)
    return rows


class Sizes:
    """How many cases a batch has: first few, to see how long one takes; at the end fewer, so that all workers end together."""

    def __init__(self, n: int, workers: int) -> None:
        self.n = n
        self.workers = workers
        self.seconds: float | None = None
        """Of one case, by what was measured last."""
        self.tried = 1

    def next(self, left: int) -> int:
        if self.seconds is None:
            size = self.tried
        else:
            size = int(SECONDS_WANTED / self.seconds) if self.seconds > 0 else left
            # Not so many that the last batch keeps one worker busy while the others wait, but at least `SECONDS_MIN`.
            least = int(SECONDS_MIN / self.seconds) if self.seconds > 0 else 1
            size = max(least, min(size, left // (2 * self.workers)))
        return max(1, min(size, left))

    def took(self, cases: int, seconds: float) -> None:
        if seconds < SECONDS_MIN / 10 and self.seconds is None:
            # Too short to be measured: more of them.
            self.tried = cases * 8
            if self.tried < self.n:
                return
        now = max(seconds / cases, 1e-9)
        self.seconds = now if self.seconds is None else 0.5 * (self.seconds + now)


def batches(n: int, workers: int, seconds: float) -> Iterator[int]:
    """The sizes of the batches of `n` cases that take so long each: for tests and for the curious."""
    sizes = Sizes(n, workers)
    while n > 0:
        size = sizes.next(n)
        yield size
        n -= size
        sizes.took(size, size * seconds)
