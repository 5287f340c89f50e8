"""How far a run is: a bar of tqdm, or else a line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

Told = Callable[[float, float, float], object]


@contextmanager
def listening(name: str, progress: bool | Told) -> Iterator[Told | None]:
    """Who hears how far it is: nobody, a function, or a bar."""
    if callable(progress):
        yield progress
    elif progress:
        with Bar(name) as bar:
            yield bar
    else:
        yield None


class Bar:
    """Called with time, start and stop of a run."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bar: Any = None

    def __enter__(self) -> Bar:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return self
        self._bar = tqdm(total=100, desc=self._name, bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}")
        return self

    def __call__(self, time: float, start: float, stop: float) -> None:
        share = 100 * (time - start) / (stop - start) if stop > start else 100
        if self._bar is None:
            print(f"\r{self._name}: {share:3.0f} %", end="", file=sys.stderr, flush=True)
        else:
            self._bar.n = share
            self._bar.refresh()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        if self._bar is None:
            print(file=sys.stderr)
            return
        if error is None:
            self._bar.n = 100
        self._bar.close()
