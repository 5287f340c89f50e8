"""Compile Modelica models and simulate them.

>>> import saltus
>>> ball = saltus.compile_text('''
...   model Ball "A ball that falls and bounces"
...     parameter Real mu(min = 0, max = 1) = 0.8 "Restitution";
...     Real h(unit = "m", start = 1, fixed = true), v(unit = "m/s", start = 0, fixed = true);
...   equation
...     der(h) = v;
...     der(v) = -9.81;
...     when h < 0 then reinit(v, -mu*pre(v)); end when;
...   end Ball;
... ''', "Ball")
>>> r = ball.simulate(stop=1, tolerance=1e-8)
>>> bounce = r.events[1].time
>>> round(bounce, 6)
0.451524
>>> r.at("v", bounce, side="left") < 0 < r.at("v", bounce, side="right")
True
>>> ball.parameters["mu"].description
'Restitution'
"""

from __future__ import annotations

from ._errors import Diagnostic, Interrupted, SaltusError
from ._fmu import Fmu, FmuVariable, load_fmu
from ._model import Linearization, Model, Simulator, State, Variable, Variables
from ._ode import Problem, When, ode
from ._result import Event, Plot, Result
from ._saltus import __version__
from ._sweep import Table
from ._session import Session, compile, compile_text

__all__ = [
    "Diagnostic",
    "Event",
    "Fmu",
    "FmuVariable",
    "Interrupted",
    "Linearization",
    "Model",
    "Plot",
    "Problem",
    "Result",
    "SaltusError",
    "Session",
    "Simulator",
    "State",
    "Table",
    "Variable",
    "Variables",
    "When",
    "__version__",
    "compile",
    "compile_text",
    "load_fmu",
    "ode",
]
