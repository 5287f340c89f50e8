"""Many runs of one model: the table that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._errors import SaltusError, UnknownName
from ._result import Result

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from ._model import Model

Case = dict[str, Any]

_SHOWN_MAX = 10
"""Rows of a table that a notebook shows."""


class Table(Mapping[str, "NDArray[Any]"]):
    """The runs of a sweep, one row each: what was set, what was measured, the time that was reached, and how the run ended.

    ``status`` is ``done``, or the code of what ended the run; ``error`` is its message. A number that a run does not have is NaN.
    """

    def __init__(self, settings: Sequence[str], measures: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self.settings = list(settings)
        self.measures = list(measures)
        self.rows = list(rows)
        self.results: list[Result | None] | None = None
        """The runs themselves, if they were kept."""

    @staticmethod
    def made(
        settings: list[str], measures: list[str], cases: Sequence[Case], rows: Iterable[tuple[int, Sequence[Any]]]
    ) -> Table:
        """From the rows of runs with their numbers: measures, time, status, error."""
        nan = float("nan")

        def number(x: float | None) -> float:
            return nan if x is None else x

        made = [
            [*(cases[k].get(name) for name in settings), *map(number, row[0]), number(row[1]), row[2], row[3]]
            for k, row in rows
        ]
        return Table(settings, measures, made)

    @property
    def columns(self) -> list[str]:
        return [*self.settings, *self.measures, "time", "status", "error"]

    def __getitem__(self, name: str) -> NDArray[Any]:
        import numpy as np

        try:
            k = self.columns.index(name)
        except ValueError:
            raise UnknownName(f"the table has no column {name}; it has {', '.join(self.columns)}") from None
        values = [row[k] for row in self.rows]
        if k >= len(self.settings) and name not in ("status", "error"):
            return np.array(values, dtype=np.float64)
        kinds = {type(value) for value in values}
        if kinds <= {int, float} and bool not in kinds or kinds == {bool}:
            return np.array(values)
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        """The number of runs."""
        return len(self.rows)

    def __eq__(self, other: object) -> bool:
        """Bit by bit the same."""
        if not isinstance(other, Table):
            return NotImplemented
        same = self.columns == other.columns and len(self.rows) == len(other.rows)
        return same and all(_same(a, b) for x, y in zip(self.rows, other.rows) for a, b in zip(x, y))

    __hash__ = None  # type: ignore[assignment]

    @property
    def failed(self) -> list[int]:
        """The numbers of the runs that were not completed."""
        k = self.columns.index("status")
        return [n for n, row in enumerate(self.rows) if row[k] != "done"]

    def to_pandas(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({name: self[name] for name in self.columns})

    def __repr__(self) -> str:
        return f"<Table of {len(self)} runs, {len(self.failed)} not completed: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in row) + "</tr>" for row in self.rows[:_SHOWN_MAX]
        )
        more = f"<small>{len(self)} runs, {len(self.failed)} not completed</small>"
        return f"<div><table><tr>{head}</tr>{rows}</table>{more}</div>"


def measures_of(model: Model, measure: Mapping[str, str] | Sequence[str] | str | None) -> dict[str, str]:
    """Names of columns, and what they hold."""
    if isinstance(measure, Mapping):
        return dict(measure)
    if isinstance(measure, str):
        return {measure: measure}
    if measure is not None:
        return {text: text for text in measure}
    names = list(model.outputs)
    if not names:
        known = model.variables
        names = [name for name in known if f"der({name})" in known]
    return {name: name for name in names}


def kept(
    model: Model,
    settings: list[str],
    cases: Sequence[Case],
    measures: dict[str, str],
    options: dict[str, Any],
    jobs: int | None,
    told: Callable[[float, float, float], object] | None,
) -> Table:
    """The table with the runs themselves, made by threads of this process."""
    import os
    from concurrent.futures import ThreadPoolExecutor

    def run(case: Case) -> tuple[Result | None, str, str]:
        try:
            return model.simulate(set=case, **options), "done", ""
        except SaltusError as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            code = next((d.code for d in error.diagnostics if d.severity == "error"), error.kind)
            return error.result, code, str(error)

    results: list[Result | None] = []
    rows: list[tuple[int, Sequence[Any]]] = []
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        for k, (result, status, text) in enumerate(pool.map(run, cases)):
            values = [None if result is None else result._run.measure(m) for m in measures.values()]
            reached = None if result is None else result.time_reached
            rows.append((k, (values, reached, status, text)))
            results.append(result)
            if told is not None:
                told(k + 1, 0, len(cases))
    table = Table.made(settings, list(measures), cases, rows)
    table.results = results
    return table


def _same(a: Any, b: Any) -> bool:
    return bool(a == b) or (a != a and b != b)


def cases_of(
    grid: Mapping[str, Iterable[Any]] | None,
    cases: Any,
    lhs: Mapping[str, tuple[float, float]] | None,
    count: int | None,
    seed: int,
) -> tuple[list[str], list[Case]]:
    """The names that are set, and what each run sets: all cases, each with all combinations of the grid, whose last axis moves fastest."""
    if cases is not None and lhs is not None:
        raise SaltusError("give `cases` or `lhs`, not both")
    if lhs is not None:
        if not count:
            raise SaltusError("a Latin hypercube needs the number of its points: give `count`")
        runs = _latin_hypercube(lhs, count, seed)
    elif cases is not None:
        runs = _listed(cases)
    else:
        runs = [{}]
    if lhs is None and count is not None:
        raise SaltusError("`count` is the number of points of `lhs`")
    for name, values in (grid or {}).items():
        axis = [_plain(value) for value in _elements(values)]
        runs = [{**run, name: value} for run in runs for value in axis]
    if grid is None and cases is None and lhs is None:
        raise SaltusError("a sweep needs a `grid`, `cases` or `lhs`")
    names = list(dict.fromkeys(name for run in runs for name in run))
    return names, runs


def _elements(values: Any) -> Iterable[Any]:
    listed: Iterable[Any] = values.tolist() if hasattr(values, "tolist") else values
    return listed


def _plain(value: Any) -> Any:
    """Numbers of numpy as numbers of Python."""
    return value.tolist() if hasattr(value, "tolist") else value


def _listed(cases: Any) -> list[Case]:
    if hasattr(cases, "to_dict") and hasattr(cases, "columns"):
        names = [str(name) for name in cases.columns]
        columns = [_elements(cases[name]) for name in cases.columns]
        return [dict(zip(names, row)) for row in zip(*columns, strict=True)]
    if isinstance(cases, Mapping):
        names = [str(name) for name in cases]
        columns = [_elements(column) for column in cases.values()]
        return [dict(zip(names, row)) for row in zip(*columns, strict=True)]
    return [{str(name): _plain(value) for name, value in case.items()} for case in cases]


def _latin_hypercube(ranges: Mapping[str, tuple[float, float]], count: int, seed: int) -> list[Case]:
    """One point in each of `count` equal layers of each range (McKay, Beckman, Conover 1979)."""
    import random

    draw = random.Random(seed)
    columns: dict[str, list[float]] = {}
    for name, (low, high) in ranges.items():
        layers = list(range(count))
        draw.shuffle(layers)
        columns[name] = [low + (high - low) * (layer + draw.random()) / count for layer in layers]
    return [{name: column[k] for name, column in columns.items()} for k in range(count)]
