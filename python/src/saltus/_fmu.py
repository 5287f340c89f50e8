"""FMUs of others."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import _saltus
from ._errors import SaltusError
from ._result import Result


class FmuVariable(NamedTuple):
    """A variable as the FMU describes it."""

    name: str
    type: str
    causality: str
    start: str | None
    unit: str
    description: str


class Fmu:
    """A model in a file of the standard FMI 2.0 or 3.0; made by `load_fmu`.

    Nothing of it runs before `simulate`, and that only if it was loaded with ``allow=True``: the library in it can do whatever you can do.
    """

    def __init__(self, path: str | os.PathLike[str], allow: bool = False) -> None:
        self._native = _saltus.Fmu(os.fspath(path))
        self._path = os.fspath(path)
        self._allow = allow

    @property
    def name(self) -> str:
        return self._native.name

    @property
    def description(self) -> str:
        return self._native.description

    @property
    def version(self) -> int:
        """2 or 3."""
        return self._native.version

    @property
    def kinds(self) -> list[str]:
        """``cs`` (co-simulation) and ``me`` (model exchange), those that it has."""
        return self._native.kinds

    @property
    def variables(self) -> dict[str, FmuVariable]:
        return {row[0]: FmuVariable(*row) for row in self._native.variables()}

    def simulate(
        self,
        stop: float | None = None,
        *,
        kind: str | None = None,
        start: float | None = None,
        tolerance: float | None = None,
        interval: float | None = None,
        set: Mapping[str, Any] | None = None,
        variables: Sequence[str] | str | None = None,
        solver: str | None = None,
    ) -> Result:
        """Runs the FMU: with its own integrator (``kind="cs"``, the default where it has one), or with those of Saltus, events located (``kind="me"``)."""
        if not self._allow:
            raise SaltusError(f"{self._path} holds a library that runs with your rights: load_fmu(…, allow=True) if you trust those who made it")
        kind = kind or self.kinds[0]
        patterns = [variables] if isinstance(variables, str) else list(variables or [])
        settings = dict(set or {})
        if kind == "cs":
            if solver is not None:
                raise SaltusError('in co-simulation the FMU has its own integrator: a solver needs kind="me"')
            return Result(self._native.co_simulate(start, stop, tolerance, interval, settings, patterns))
        if kind != "me":
            raise SaltusError(f"kind is 'cs' or 'me', not {kind!r}")
        options: dict[str, Any] = {"start": start, "stop": stop, "tolerance": tolerance, "interval": interval, "solver": solver}
        if patterns:
            options["variables"] = patterns
        return Result(self._native.simulate(settings, options))

    def __repr__(self) -> str:
        return f"<saltus.Fmu {self.name}, FMI {self.version}.0, {', '.join(self.kinds)}>"


def load_fmu(path: str | os.PathLike[str], *, allow: bool = False) -> Fmu:
    """Opens an FMU. ``allow``: it may be run."""
    return Fmu(path, allow)
