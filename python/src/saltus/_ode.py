"""Problems that are written in Python, without Modelica."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _saltus
from ._errors import SaltusError
from ._result import Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]
    Function = Callable[[float, Vector], ArrayLike]


class When:
    """An event of a problem: where ``g(t, x)`` changes its sign.

    ``direction``: -1 where it falls through zero, 1 where it rises, 0 at both. ``do(t, x)`` gives the states after the event, or None if they do not change.
    ``terminal``: the run ends there. ``g`` may be a ``cfunc`` of numba with the signature ``double(double, CPointer(double))``.
    """

    def __init__(
        self,
        g: Any,
        do: Callable[[float, Vector], ArrayLike | None] | None = None,
        *,
        direction: int = 0,
        terminal: bool = False,
        name: str = "",
    ) -> None:
        if direction not in (-1, 0, 1):
            raise SaltusError(f"a direction is -1, 0 or 1, not {direction}")
        self.g = g
        self.do = do
        self.direction = direction
        self.terminal = terminal
        self.name = name or str(getattr(g, "__name__", "event"))


class Problem:
    """x' = f(t, x) with events."""

    def __init__(self, f: Any, x0: ArrayLike, events: Sequence[Any], names: Sequence[str] | None) -> None:
        import numpy as np

        start = np.atleast_1d(np.asarray(x0, dtype=np.float64)).tolist()
        self.f = f
        self.names = list(names) if names is not None else [f"x[{k}]" for k in range(1, len(start) + 1)]
        if len(self.names) != len(start):
            raise SaltusError(f"there are {len(self.names)} names for {len(start)} states")
        self.x0: list[float] = start
        self.events = [_event(event) for event in events]

    def simulate(
        self,
        stop: float,
        *,
        start: float = 0.0,
        tolerance: float | None = None,
        interval: float | None = None,
        intervals: int | None = None,
        solver: str | None = None,
        max_wall: float | None = None,
    ) -> Result:
        """Runs the problem; the options are those of `Model.simulate`. All events of a step are found, also two of one function; at each the result has both sides."""
        options = {
            "stop": float(stop),
            "start": float(start),
            "tolerance": tolerance,
            "interval": interval,
            "intervals": intervals,
            "solver": solver,
            "max_wall": max_wall,
        }
        # Two functions may have one name.
        events = [(e.g, e.do, e.direction, e.terminal, f"{e.name} [{k}]") for k, e in enumerate(self.events)]
        return Result(_saltus.simulate_ode(self.f, list(zip(self.names, self.x0)), events, options))


def _event(event: Any) -> When:
    if isinstance(event, When):
        return event
    if callable(event) or hasattr(event, "address"):
        direction = int(getattr(event, "direction", 0))
        return When(event, direction=direction, terminal=bool(getattr(event, "terminal", False)))
    raise SaltusError(f"{event!r} is no event: give a function of time and states, or a saltus.When")


def ode(f: Any, x0: ArrayLike, events: Sequence[Any] = (), *, names: Sequence[str] | None = None) -> Problem:
    """A problem x' = f(t, x) with the states ``x0`` at the start.

    ``f(t, x)`` gives the derivatives; it may be a ``cfunc`` of numba with the signature ``void(double, CPointer(double), CPointer(double))`` of time, states and derivatives.
    ``events``: functions g(t, x) whose changes of sign are events (with attributes ``direction`` and ``terminal`` as for scipy's ``solve_ivp``), or `When` objects that say what happens.
    The states are ``x[1]``, ``x[2]``, … unless ``names`` are given; ``r["x"]`` is all of them.

    >>> import saltus
    >>> ball = saltus.ode(lambda t, x: [x[1], -9.81], [1, 0], [saltus.When(lambda t, x: x[0], lambda t, x: [x[0], -0.8*x[1]], direction=-1)])
    >>> r = ball.simulate(stop=2, tolerance=1e-9)
    >>> round(r.events[1].time, 9), len([e for e in r.events if e.kind == "state"])
    (0.451523641, 3)
    """
    return Problem(f, x0, events, names)
