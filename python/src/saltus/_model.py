"""Compiled models and their runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _saltus
from ._errors import Diagnostic, Interrupted, SaltusError, UnknownName
from ._result import Event, Plot, Result, read_events

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ._sweep import Table

    Course = Callable[[float], float] | tuple[ArrayLike, ArrayLike] | ArrayLike | str
    """An input: a function of time, a pair of times and values, or a constant."""
    Progress = bool | Callable[[float, float, float], object]

State = _saltus.State


class Variable(NamedTuple):
    """A variable or parameter of a model with all that is known of it."""

    name: str
    value: Any
    """Of a parameter its value, of a variable its start value; ``None`` if only a run can tell."""
    unit: str
    min: float
    max: float
    type: str
    """``Real``, ``Integer``, ``Boolean``, ``String`` or ``enumeration``."""
    description: str
    settable: bool
    structural: str | None
    """Why another value needs another compilation (``set=`` does it); ``None`` if it does not."""
    display_unit: str
    kind: str
    """``constant``, ``parameter``, ``discrete`` or ``continuous``."""
    causality: str
    """``input``, ``output`` or ``local``."""
    literals: tuple[str, ...]
    """Of an enumeration."""
    hidden: bool


class Variables(Mapping[str, Variable]):
    """Variables by name. The name of an array gives its elements together, with a list as the value."""

    def __init__(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self._known = {row[0]: Variable(*row) for row in rows}

    def __getitem__(self, name: str) -> Variable:
        found = self._known.get(name) or self._array(name)
        if found is None:
            import difflib

            similar = difflib.get_close_matches(name, self._known, 1)
            hint = f"; did you mean {similar[0]}?" if similar else ""
            raise UnknownName(f"there is no {name}{hint}")
        return found

    def _array(self, name: str) -> Variable | None:
        elements = [v for known, v in self._known.items() if known.startswith(name + "[") and known.endswith("]")]
        if not elements:
            return None
        value: list[Any] = []
        for element in elements:
            subscripts = [int(k) for k in element.name[len(name) + 1 : -1].split(",")]
            row = value
            for k in subscripts[:-1]:
                while len(row) < k:
                    row.append([])
                row = row[k - 1]
            row.append(element.value)
        return elements[0]._replace(name=name, value=value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{v.name}: {v.value!r}" for v in self._known.values()) + "}"

    def _repr_html_(self) -> str:
        from html import escape

        columns = ("name", "value", "unit", "min", "max", "type", "description", "structural")
        head = "".join(f"<th>{column}</th>" for column in columns)

        def shown(x: Any) -> str:
            return "" if x is None or x in (float("inf"), float("-inf")) else escape(str(x))

        rows = "".join(
            "<tr>" + "".join(f"<td>{shown(getattr(v, column))}</td>" for column in columns) + "</tr>"
            for v in self._known.values()
        )
        return f"<table><tr>{head}</tr>{rows}</table>"


class Model:
    """A compiled model. It does not change, can be used by several threads at once, and can be pickled."""

    def __init__(self, native: _saltus.Model, source: tuple[_saltus.Session, str] | None = None) -> None:
        self._native = native
        self._source = source
        self._variables: dict[str, Variables] = {}

    @property
    def name(self) -> str:
        """The qualified name of its class."""
        return self._native.name

    @property
    def description(self) -> str:
        return self._native.description

    @property
    def experiment(self) -> dict[str, float | None]:
        """Start time, stop time, tolerance and interval of the model's annotation, or their defaults."""
        return dict(zip(("start", "stop", "tolerance", "interval"), self._native.experiment))

    @property
    def warnings(self) -> list[Diagnostic]:
        """Warnings of the compiler."""
        return self._native.warnings()

    def _described(self, which: str) -> Variables:
        found = self._variables.get(which)
        if found is None:
            found = self._variables[which] = Variables(self._native.variables(which))
        return found

    @property
    def parameters(self) -> Variables:
        """What can be set: value, unit, limits, type, description, whether settable, whether structural."""
        return self._described("parameter")

    @property
    def variables(self) -> Variables:
        """All variables, parameters and constants."""
        return self._described("all")

    @property
    def inputs(self) -> Variables:
        """The inputs: their values come from outside."""
        return self._described("input")

    @property
    def outputs(self) -> Variables:
        return self._described("output")

    def with_settings(self, set: Mapping[str, Any] | None = None, /, **named: Any) -> Model:
        """The model with other values of parameters and start values; what needs another compilation is compiled again, and kept.

        A value has the type of the variable: a number, a ``bool``, a ``str`` (also the literal of an enumeration), or a list for an array.
        """
        return Model(self._native.with_settings({**(set or {}), **named}), self._source)

    def simulate(
        self,
        stop: float | None = None,
        *,
        start: float | None = None,
        tolerance: float | None = None,
        interval: float | None = None,
        intervals: int | None = None,
        set: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Course] | None = None,
        variables: Sequence[str] | str | None = None,
        solver: str | None = None,
        event_method: str | None = None,
        locate_events: bool | None = None,
        zeno: str | None = None,
        max_wall: float | None = None,
        inline_step: float | None = None,
        progress: Progress = False,
    ) -> Result:
        """Runs the model.

        ``stop``, ``start`` (seconds), ``tolerance`` and ``interval`` (seconds between rows) or ``intervals`` (their number) are those of the model's annotation unless given.
        ``set``: values of parameters and start values. ``inputs``: for each input a constant, a function of time, or a pair of times and values (linear in between; two values
        of the same time are a jump; the points are events). ``variables``: patterns with ``*`` and ``?`` of what is kept. ``max_wall``: seconds after which the run ends.
        ``progress``: True for a bar (of tqdm where it is installed), or a function of time, start and stop.

        A run that cannot be completed raises `SaltusError`; Ctrl-C raises `Interrupted`. What was computed is in ``result`` of either.

        >>> import saltus
        >>> lag = saltus.compile_text("model Lag input Real u; Real x(start = 0, fixed = true); equation der(x) = u - x; end Lag;", "Lag")
        >>> r = lag.simulate(stop=2, inputs={"u": ([0, 1, 1, 2], [0, 0, 1, 1])})
        >>> float(r.at("u", 1, side="left")), float(r.at("u", 1))
        (0.0, 1.0)
        """
        options: dict[str, Any] = {
            "stop": stop,
            "start": start,
            "tolerance": tolerance,
            "interval": interval,
            "intervals": intervals,
            "solver": solver,
            "event_method": event_method,
            "locate_events": locate_events,
            "zeno": zeno,
            "max_wall": max_wall,
            "inline_step": inline_step,
        }
        if inputs:
            options["inputs"] = dict(inputs)
        if variables is not None:
            options["variables"] = [variables] if isinstance(variables, str) else list(variables)
        settings = dict(set) if set else None
        if not progress:
            return Result(self._native.simulate(settings, options))
        from ._progress import listening

        with listening(self.name, progress) as told:
            options["progress"] = told
            return Result(self._native.simulate(settings, options))

    def export_fmu(self, path: str | os.PathLike[str], fmi: int = 2, *, set: Mapping[str, Any] | None = None, include_sources: bool = False) -> None:
        """Writes the model as an FMU for co-simulation, of version 2.0 or 3.0: a file that other simulators run, without a compiler.

        >>> import os, saltus, tempfile
        >>> lag = saltus.compile_text("model Lag output Real x(start = 1, fixed = true); equation der(x) = -x; end Lag;", "Lag")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     lag.export_fmu(os.path.join(folder, "lag.fmu"), fmi=3)
        ...     fmu = saltus.load_fmu(os.path.join(folder, "lag.fmu"), allow=True)
        ...     fmu, round(fmu.simulate(stop=1)["x"][-1].item(), 4)
        (<saltus.Fmu Lag, FMI 3.0, cs>, 0.3679)
        """
        model = self._native.with_settings(dict(set)) if set else self._native
        model.export_fmu(os.fspath(path), fmi, include_sources)

    def simulator(
        self,
        *,
        start: float | None = None,
        tolerance: float | None = None,
        set: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Course] | None = None,
        variables: Sequence[str] | str | None = None,
        solver: str | None = None,
    ) -> Simulator:
        """A run that is stepped from outside: control loops, filters, learning. It has no stop time, and keeps rows at events only."""
        options: dict[str, Any] = {"start": start, "tolerance": tolerance, "solver": solver}
        if inputs:
            options["inputs"] = dict(inputs)
        if variables is not None:
            options["variables"] = [variables] if isinstance(variables, str) else list(variables)
        return Simulator(self._native.simulator(dict(set) if set else None, options))

    def sweep(
        self,
        grid: Mapping[str, Any] | None = None,
        cases: Any = None,
        *,
        lhs: Mapping[str, tuple[float, float]] | None = None,
        count: int | None = None,
        seed: int = 0,
        measure: Mapping[str, str] | Sequence[str] | str | None = None,
        keep: str = "final",
        executor: Any = None,
        jobs: int | None = None,
        progress: Progress = False,
        **run: Any,
    ) -> Table:
        """Many runs, one row each; a run that fails is a row with its error.

        ``grid``: values of parameters and start values, of which all combinations are run; the last axis moves fastest. ``cases``: a DataFrame, a mapping of columns, or a list of
        mappings. ``lhs``: ranges in which ``count`` points of a Latin hypercube are drawn. ``measure``: names of columns and what they hold, of ``max(x)``, ``min(x)``, ``mean(x)``,
        ``first(x)``, ``last(x)``, ``at(x, 0.5)``, or ``x`` for its last value; without it the last values of all outputs, or of all states. ``keep="trajectories"`` keeps the runs in
        ``table.results``. ``executor``: who does the runs: all cores of this machine, or a Dask ``Client``, the module ``ray``, an executor of ``concurrent.futures``, a
        ``joblib.Parallel``; the table is the same, bit by bit. Other arguments are those of `Model.simulate`.

        Ctrl-C raises `Interrupted`, whose ``result`` is the table of the runs that were completed.

        >>> import saltus
        >>> m = saltus.compile_text("model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;", "M")
        >>> t = m.sweep(grid={"k": [0.5, 1, 2]}, measure={"end": "x", "mean": "mean(x)"}, stop=1)
        >>> t["end"].round(3).tolist()
        [0.607, 0.368, 0.135]
        """
        from ._sweep import Table, cases_of, measures_of

        names, runs = cases_of(grid, cases, lhs, count, seed)
        columns = measures_of(self, measure)
        options = dict(run)
        for known in ("set", "progress"):
            if known in options:
                raise SaltusError(f"`{known}` is not an option of the runs of a sweep")
        if isinstance(options.get("variables"), str):
            options["variables"] = [options["variables"]]
        if keep not in ("final", "trajectories"):
            raise SaltusError(f"keep is 'final' or 'trajectories', not '{keep}'")
        from ._progress import listening

        with listening(self.name, progress) as told:
            if keep == "trajectories":
                if executor is not None:
                    raise SaltusError("trajectories are kept on this machine only: leave `executor` out")
                from ._sweep import kept

                return kept(self, names, runs, columns, options, jobs, told)
            if executor is not None:
                from .distributed import sweep

                work = {"measures": list(columns.values()), "run": options}
                rows = sweep(self._native.to_bytes(), runs, work, executor, told)
                return Table.made(names, list(columns), runs, list(enumerate(rows)))
            if told is not None:
                options["progress"] = told
            done, why = self._native.sweep(runs, list(columns.values()), options, jobs)
        table = Table.made(names, list(columns), runs, [(row[0], row[1:]) for row in done])
        if why is not None:
            if isinstance(why, KeyboardInterrupt):
                raise Interrupted(f"{len(table)} of {len(runs)} runs were completed", (), table, "interrupted") from None
            raise why
        return table

    def linearize(
        self,
        at: float | None = None,
        *,
        set: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Course] | None = None,
        tolerance: float | None = None,
    ) -> Linearization:
        """The linear system near the point that a run has reached at the time ``at``: x' = A x + B u, y = C x + D u.

        >>> import saltus
        >>> m = saltus.compile_text("model M input Real u(start = 0); Real x(start = 2, fixed = true); output Real y = x*x; equation der(x) = -3*x + 2*u; end M;", "M")
        >>> linear = m.linearize(at=0)
        >>> linear.A.round(9).tolist(), linear.B.round(9).tolist(), linear.C.round(9).tolist(), linear.D.tolist()
        ([[-3.0]], [[2.0]], [[4.0]], [[0.0]])
        """
        s = self.simulator(set=set, inputs=inputs, tolerance=tolerance)
        if at is not None and at > s.time:
            s.advance_to(at)
        return s.linearize()

    def steady_state(
        self, *, set: Mapping[str, Any] | None = None, inputs: Mapping[str, Course] | None = None
    ) -> Simulator:
        """A run that stands where nothing moves: ``s["x"]`` are the values there, ``s.linearize().poles`` says whether it is stable.

        >>> import saltus
        >>> m = saltus.compile_text("model M Real x(start = 3, fixed = true); equation der(x) = 2 - x*x; end M;", "M")
        >>> round(m.steady_state()["x"], 9)
        1.414213562
        """
        s = self.simulator(set=set, inputs=inputs)
        s._native.settle()
        return s

    def _show(self, stage: str, form: str) -> str:
        if self._source is None:
            raise SaltusError("the text of the model is not here: it was read from its serialised form")
        session, name = self._source
        return session.show(name, stage, form)

    def structure(self) -> dict[str, Any]:
        """The sorted equations, as the compiler has them for the values of the text: states, blocks, crossing functions."""
        import json

        view: dict[str, Any] = json.loads(self._show("structure", "json"))
        return view

    def show_structure(self) -> Plot:
        """A picture of the sorted equations: which unknown is in which."""
        return Plot(self._show("structure", "svg"))

    def show_modes(self) -> Plot:
        """A picture of the modes that a run with the settings of the text meets, and of the ways between them."""
        return Plot(self._show("mode", "svg"))

    def to_bytes(self) -> bytes:
        """The model as bytes, for this version of Saltus on any machine."""
        return self._native.to_bytes()

    @staticmethod
    def from_bytes(content: bytes) -> Model:
        """The model that `to_bytes` has written."""
        return Model(_saltus.Model.from_bytes(content))

    def __reduce__(self) -> tuple[Any, ...]:
        return Model.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        equations, _, states = self._native.size
        return f"<Model {self.name}: {equations} equations, {states} states>"

    def _repr_html_(self) -> str:
        from html import escape

        equations, _, states = self._native.size
        head = f"<b>{escape(self.name)}</b> {escape(self.description)}<br><small>{equations} equations, {states} states</small>"
        messages = "".join(d._repr_html_() for d in self.warnings)
        return f"<div>{head}{self.parameters._repr_html_()}{messages}</div>"


class Linearization(NamedTuple):
    """x' = A x + B u, y = C x + D u for small deviations from a point."""

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    C: NDArray[np.float64]
    D: NDArray[np.float64]
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    time: float
    x: NDArray[np.float64]
    """The states at the point."""
    u: NDArray[np.float64]
    y: NDArray[np.float64]
    dx: NDArray[np.float64]
    """The derivatives of the states there; zero at an equilibrium."""

    @property
    def poles(self) -> NDArray[np.complex128]:
        """The eigenvalues of A."""
        import numpy as np

        poles: NDArray[np.complex128] = np.linalg.eigvals(self.A).astype(np.complex128)
        return poles


class Simulator:
    """One run from inside. The steps of the integrator do not depend on where the run is stopped.

    >>> import saltus
    >>> m = saltus.compile_text('''
    ...   model Room input Real heat(start = 0); Real T(start = 10, fixed = true);
    ...   equation der(T) = heat - 0.1*(T - 10); end Room;''', "Room")
    >>> s = m.simulator()
    >>> while s.time < 60:
    ...     s["heat"] = 2 if s["T"] < 20 else 0
    ...     s.advance(1.0)
    >>> 18 < s["T"] < 22
    True
    >>> before = s.save()
    >>> s.advance(10); after = s["T"]
    >>> s.restore(before); s.advance(10); s["T"] == after
    True
    """

    def __init__(self, native: _saltus.Simulator) -> None:
        self._native = native

    @property
    def time(self) -> float:
        """Where the run stands, in seconds."""
        return self._native.time()

    @property
    def is_finished(self) -> bool:
        """The model has ended the run, or it has failed."""
        return self._native.is_finished()

    def initialise(self) -> None:
        """Computes the initial values; done by whatever needs them first. After that parameters are fixed."""
        self._native.initialise()

    def advance(self, seconds: float, *, to_event: bool = False) -> str | None:
        """Goes on by so many seconds; with ``to_event`` at most to the next event, and says whether it was one (``"event"``)."""
        return self.advance_to(self.time + seconds, to_event=to_event)

    def advance_to(self, time: float, *, to_event: bool = False) -> str | None:
        """Goes on to a time; events at it are carried out."""
        gone = self._native.advance_to(time, to_event)
        return gone if to_event else None

    def step(self) -> str:
        """One step of the integrator, or one event: ``"step"``, ``"event"`` or ``"finished"``."""
        return self._native.step()

    def __getitem__(self, name: str) -> Any:
        """The value of a variable, with its type; of an array all elements. At an event the value after it."""
        return self.time if name == "time" else self._native.get(name)

    def __setitem__(self, name: str, value: Course) -> None:
        """Gives an input another value or course, or a state another value, when the run goes on; before the start also a parameter."""
        if self._native.is_input(name):
            self._native.set_input(name, value)
        else:
            self._native.set(name, value)

    def at(self, name: str, time: float, side: str = "right") -> float:
        """A variable at a time of the last step."""
        return self._native.interpolate(name, time, side)

    @property
    def states(self) -> dict[str, float]:
        """The states of the mode in use."""
        return dict(self._native.states())

    @property
    def derivatives(self) -> dict[str, float]:
        """The derivatives of the states, by the names of the states."""
        return dict(self._native.derivatives())

    @property
    def outputs(self) -> dict[str, float]:
        return dict(self._native.outputs())

    @property
    def event_indicators(self) -> dict[str, float]:
        """The functions whose changes of sign are events."""
        return dict(self._native.event_indicators())

    @property
    def events(self) -> list[Event]:
        """The events since the start."""
        return read_events(self._native.events_json())

    def linearize(self) -> Linearization:
        """The linear system near where the run stands, in the mode in use; see `Model.linearize`."""
        import numpy as np

        a, b, c, d, states, inputs, outputs, time, x, u, y, dx = self._native.linearize()
        n, m, k = len(states), len(inputs), len(outputs)

        def matrix(rows: list[list[float]], shape: tuple[int, int]) -> NDArray[np.float64]:
            return np.array(rows, dtype=np.float64).reshape(shape)

        return Linearization(
            matrix(a, (n, n)),
            matrix(b, (n, m)),
            matrix(c, (k, n)),
            matrix(d, (k, m)),
            states,
            inputs,
            outputs,
            time,
            np.array(x),
            np.array(u),
            np.array(y),
            np.array(dx),
        )

    def save(self) -> State:
        """All that decides how the run goes on, as data that can be pickled."""
        return self._native.save()

    def restore(self, state: State) -> None:
        """Goes on from where a run of the same model stood."""
        self._native.restore(state)

    def finish(self) -> Result:
        """Ends the run: its rows and events."""
        return Result(self._native.finish())
