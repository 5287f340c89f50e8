"""Results of runs: columns that share their memory with the run, events, pictures, tables of other packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from . import _saltus
from ._errors import Diagnostic, SaltusError, UnknownName

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import xarray as xr
    from numpy.typing import NDArray

_NAN = float("nan")
_DRAWN_MAX = 3
"""So many curves are drawn of a result that nobody asked to draw."""


class Cause(NamedTuple):
    """A relation that flipped, or a time event that came due."""

    expression: str
    file: str
    line: int
    value_left: float
    value_right: float


class Change(NamedTuple):
    """A variable that jumped."""

    variable: str
    before: float
    after: float


class Impulse(NamedTuple):
    variable: str
    value: float


class Event(NamedTuple):
    """An event of a run; the fields are those of the event log."""

    time: float
    kind: str
    """``initial``, ``time``, ``state``, ``input``, ``sliding``, ``zeno``, ``touch``, ``step``, ``fold`` or ``terminal``."""
    method: str
    cause: list[Cause]
    changed: list[Change]
    impulses: list[Impulse]
    iterations: int
    evaluations: int
    mode: int
    """The mode after it."""


def read_events(lines: str) -> list[Event]:
    """The events of an event log (JSON lines)."""

    import json

    def number(x: float | None) -> float:
        return _NAN if x is None else x

    events = []
    for line in lines.splitlines():
        e = json.loads(line)
        causes = [
            Cause(c["expression"], c["file"], c["line"], number(c["value_left"]), number(c["value_right"]))
            for c in e["cause"]
        ]
        changed = [Change(c["variable"], number(c["before"]), number(c["after"])) for c in e["changed"]]
        impulses = [Impulse(i["variable"], number(i["value"])) for i in e["impulses"]]
        events.append(
            Event(
                e["time"], e["kind"], e["method"], causes, changed, impulses, e["iterations"], e["evaluations"], e["mode"]
            )
        )
    return events


class Plot:
    """A picture: draws itself in a notebook, and can be saved."""

    svg: str

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the picture to an SVG file."""
        with open(path, "w", encoding="utf-8") as out:
            out.write(self.svg)

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Plot, {len(self.svg)} bytes of SVG>"


class Result(Mapping[str, "NDArray[Any]"]):
    """The result of a run: a mapping from names of variables to columns.

    Columns of Real variables are read-only views of the numbers of the run, without a copy; those of Integer, enumeration (``int64``) and Boolean (``bool``) variables are made once.
    Both sides of an event are two rows of the same time, the left limit first. ``r["a"]`` of an array gives all elements, with the rows as the first dimension.
    """

    def __init__(self, run: _saltus.Run) -> None:
        self._run = run
        self._columns: dict[str, NDArray[Any]] = {}
        self._names: list[str] | None = None
        self._time: NDArray[np.float64] | None = None
        self._events: list[Event] | None = None

    # Columns

    @property
    def time(self) -> NDArray[np.float64]:
        """The times of the rows, in seconds."""
        if self._time is None:
            self._time = _view(self._run.time())
        return self._time

    def __getitem__(self, name: str) -> NDArray[Any]:
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = self._column(name)
        return column

    def _column(self, name: str) -> NDArray[Any]:
        import numpy as np

        if name == "time":
            return self.time
        found = self._run.values(name)
        if found is None:
            return self._array(name)
        kind, numbers = found
        dtype = {"Integer": np.int64, "enumeration": np.int64, "Boolean": np.bool_}.get(kind, np.float64)
        if isinstance(numbers, float):
            return np.broadcast_to(np.array(numbers, dtype=dtype), len(self._run))
        column: NDArray[Any] = _view(numbers)
        if dtype is not np.float64:
            column = column.astype(dtype)
            column.setflags(write=False)
        return column

    def _array(self, name: str) -> NDArray[Any]:
        import numpy as np

        elements: dict[Any, str] = {}
        for known in self.names:
            if known.startswith(name + "[") and known.endswith("]"):
                subscripts = known[len(name) + 1 : -1]
                if subscripts.replace(",", "").isdigit():
                    elements[tuple(int(k) - 1 for k in subscripts.split(","))] = known
        if not elements:
            raise self._unknown(name)
        shape = tuple(max(k) + 1 for k in zip(*elements))
        first = self[next(iter(elements.values()))]
        array = np.empty((len(self._run), *shape), dtype=first.dtype)
        for subscripts_of, known in elements.items():
            array[(slice(None), *subscripts_of)] = self[known]
        array.setflags(write=False)
        return array

    def _unknown(self, name: str) -> UnknownName:
        similar = self._run.similar(name)
        hint = f"; did you mean {' or '.join(similar)}?" if similar else ""
        return UnknownName(f"the result has no variable {name}{hint}")

    @property
    def names(self) -> list[str]:
        """The variables, in the order of the model."""
        if self._names is None:
            self._names = self._run.names()
        return self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        """The number of variables; that of rows is ``len(r.time)``."""
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name == "time" or self._run.about(name) is not None)

    def unit(self, name: str) -> str:
        """The unit of a variable; empty if it has none."""
        return self._about(name)[1]

    def description(self, name: str) -> str:
        return self._about(name)[0]

    def _about(self, name: str) -> tuple[str, str, str, str, str]:
        if name == "time":
            return ("Time", "s", "s", "Real", "continuous")
        about = self._run.about(name)
        if about is None:
            raise self._unknown(name)
        return about

    @overload
    def at(self, name: str, time: float, side: str = "right") -> float: ...
    @overload
    def at(self, name: str, time: Sequence[float] | NDArray[Any], side: str = "right") -> NDArray[np.float64]: ...
    def at(self, name: str, time: Any, side: str = "right") -> Any:
        """A variable at a time, or at several, by linear interpolation between rows.

        At an event ``side="left"`` is the value before it and ``side="right"`` the value after it.
        """
        if isinstance(time, (int, float)):
            return self._run.at(name, time, side)
        import numpy as np

        times = np.asarray(time, dtype=np.float64)
        values = np.array([self._run.at(name, t, side) for t in times.ravel().tolist()], dtype=np.float64)
        return values.reshape(times.shape) if times.ndim else float(values[0])

    def final(self, name: str) -> float:
        """The last value of a variable."""
        return float(self[name][-1])

    @staticmethod
    def from_bytes(content: bytes) -> Result:
        """The result that `to_bytes` has written."""
        return Result(_saltus.Run.from_bytes(content))

    def to_bytes(self) -> bytes:
        """The result as bytes, for this version of Saltus; `save` writes files that others read."""
        return self._run.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return Result.from_bytes, (self.to_bytes(),)

    # What happened

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._run.model

    @property
    def events(self) -> list[Event]:
        """What happened, when and why; the first one is the start."""
        if self._events is None:
            self._events = read_events(self._run.events_json())
        return self._events

    @property
    def modes(self) -> list[tuple[float, int]]:
        """Since when the run is in which mode; a model whose structure does not change has one."""
        modes: list[tuple[float, int]] = []
        for event in self.events:
            if not modes or modes[-1][1] != event.mode:
                modes.append((event.time, event.mode))
        return modes

    @property
    def statistics(self) -> dict[str, Any]:
        """Steps, evaluations, events, seconds: what the run cost."""
        import json

        statistics: dict[str, Any] = json.loads(self._run.statistics_json())
        return statistics

    @property
    def warnings(self) -> list[Diagnostic]:
        """Messages of the model, and notes on how the result came about."""
        return self._run.warnings()

    @property
    def time_reached(self) -> float:
        """The time up to which the result is complete."""
        return self._run.time_reached

    @property
    def terminated(self) -> str | None:
        """The message of ``terminate``, if the model ended the run."""
        return self._run.terminated

    # Others

    def _selected(self, names: Sequence[str] | str | None) -> list[str]:
        if names is None:
            return self.names
        return [names] if isinstance(names, str) else list(names)

    def _rows(self, sides: str) -> Any:
        """The rows that a choice of sides keeps."""
        import numpy as np

        t = self.time
        if sides == "both":
            return slice(None)
        keep = np.ones(len(t), dtype=np.bool_)
        if sides == "left":
            keep[1:] = t[1:] != t[:-1]
        elif sides == "right":
            keep[:-1] = t[1:] != t[:-1]
        else:
            raise SaltusError(f"sides is 'both', 'left' or 'right', not '{sides}'")
        return keep

    def to_pandas(self, names: Sequence[str] | str | None = None, sides: str = "both") -> pd.DataFrame:
        """A DataFrame with the time as its index and a column for each variable.

        Both sides of an event are two rows with the same index, the left limit first; with ``sides="left"`` or ``"right"`` there is one. Units are in ``df.attrs["units"]``.
        """
        import pandas as pd

        rows = self._rows(sides)
        chosen = self._selected(names)
        index = pd.Index(self.time[rows], name="time")
        frame = pd.DataFrame({name: self[name][rows] for name in chosen}, index=index, copy=False)
        frame.attrs["model"] = self.model
        frame.attrs["units"] = {name: self.unit(name) for name in chosen if self.unit(name)}
        return frame

    def to_xarray(self, names: Sequence[str] | str | None = None, sides: str = "both") -> xr.Dataset:
        """A Dataset over ``time``; units and descriptions are attributes of the variables."""
        import xarray as xr

        rows = self._rows(sides)
        variables = {}
        for name in self._selected(names):
            attributes = {"units": self.unit(name), "long_name": self.description(name)}
            kept = {key: text for key, text in attributes.items() if text}
            variables[name] = xr.DataArray(self[name][rows], dims=("time",), attrs=kept)
        time = xr.DataArray(self.time[rows], dims=("time",), attrs={"units": "s"})
        return xr.Dataset(variables, coords={"time": time}, attrs={"model": self.model})

    def to_arrow(self, names: Sequence[str] | str | None = None) -> pa.Table:
        """A table of Arrow; columns of Real variables share their memory with the run."""
        import numpy as np
        import pyarrow as pa

        def column(numbers: NDArray[Any]) -> pa.Array:
            if numbers.dtype != np.float64 or not numbers.flags.c_contiguous:
                return pa.array(np.ascontiguousarray(numbers))
            return pa.Array.from_buffers(pa.float64(), len(numbers), [None, pa.py_buffer(numbers)])

        fields, columns = [], []
        for name in ["time", *self._selected(names)]:
            numbers = column(self[name])
            about = {"unit": self.unit(name), "description": self.description(name)}
            fields.append(pa.field(name, numbers.type, metadata={k: v for k, v in about.items() if v}))
            columns.append(numbers)
        return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata={"model": self.model}))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        stream: object = self.to_arrow().__arrow_c_stream__(requested_schema)
        return stream

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the result; the name ends with ``.mat`` (as Dymola and OpenModelica write it), ``.csv`` or ``.parquet``."""
        self._run.save(path)

    def plot(
        self,
        *names: str,
        over: str | None = None,
        title: str | None = None,
        width: int = 720,
        height: int = 360,
    ) -> Plot:
        """Curves over time, or over the variable ``over``."""
        return Plot(self._run.svg(list(names) or self._interesting(), over, title, width, height))

    def _interesting(self) -> list[str]:
        """States, or else what varies."""
        names = [name for name in self.names if f"der({name})" in self]
        if not names:
            about = ((name, self._run.about(name)) for name in self.names)
            names = [name for name, a in about if a is not None and a[4] in ("continuous", "discrete")]
        return names[:_DRAWN_MAX]

    def __repr__(self) -> str:
        span = f"{self._run.time_start:g} to {self.time_reached:g} s"
        return f"<Result of {self.model}: {span}, {len(self._run)} rows, {len(self)} variables>"

    def _repr_html_(self) -> str:
        from html import escape

        names = self._interesting()
        picture = ""
        if names and len(self._run):
            try:
                picture = self._run.svg(names, None, None, 720, 300)
            except ValueError:  # nothing finite to draw
                picture = ""
        s = self.statistics
        events = sum(1 for e in self.events if e.kind not in ("initial", "terminal"))
        facts = (
            f"{self._run.time_start:g} to {self.time_reached:g} s, {len(self._run)} rows, {len(self)} variables, "
            f"{s['steps']} steps of {s['solver']}, {events} events, {s['seconds']['simulate']:.2g} s"
        )
        messages = "".join(d._repr_html_() for d in self.warnings if d.severity != "note")
        return f"<div><b>{escape(self.model)}</b><br><small>{escape(facts)}</small><br>{picture}{messages}</div>"


def _view(column: _saltus.Column) -> NDArray[np.float64]:
    """The numbers of a column, not copied."""
    import numpy as np

    if len(column) == 0:
        return np.empty(0)
    return np.frombuffer(memoryview(column), dtype=np.float64)
