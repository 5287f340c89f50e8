"""Linear systems, points of rest, structure, problems without Modelica."""

import math

import numpy as np
import pytest

import saltus


def test_linearize_equals_the_derivatives_by_hand() -> None:
    m = saltus.compile_text(
        """
        model P "A pendulum with a motor"
          parameter Real d = 0.1;
          input Real torque(start = 0);
          Real phi(start = 0.5, fixed = true), w(start = 0.2, fixed = true), y(start = 1);
          output Real height = -cos(phi), power = torque*w;
        equation
          der(phi) = w;
          der(w) = -9.81*sin(phi) - d*w*abs(w) + torque;
          y^3 + y = phi + 2;
        end P;
        """,
        "P",
    )
    linear = m.linearize(at=0, inputs={"torque": 0.3})
    assert (linear.states, linear.inputs, linear.outputs) == (["phi", "w"], ["torque"], ["height", "power"])
    assert linear.A == pytest.approx(np.array([[0, 1], [-9.81 * math.cos(0.5), -2 * 0.1 * 0.2]]), abs=1e-9)
    assert linear.B == pytest.approx(np.array([[0], [1]]), abs=1e-9)
    assert linear.C == pytest.approx(np.array([[math.sin(0.5), 0], [0, 0.3]]), abs=1e-9)
    assert linear.D == pytest.approx(np.array([[0], [0.2]]), abs=1e-9)
    assert linear.x == pytest.approx([0.5, 0.2]) and linear.y == pytest.approx([-math.cos(0.5), 0.06])
    later = m.linearize(at=1, inputs={"torque": 0.3}, tolerance=1e-9)
    r = m.simulate(stop=1, tolerance=1e-9, inputs={"torque": 0.3})
    assert later.time == 1 and later.A[1, 0] == pytest.approx(-9.81 * math.cos(r.final("phi")), rel=1e-6)


def test_linearize_through_systems_of_equations() -> None:
    m = saltus.compile_text(
        """
        model C
          Real u(start = 1, fixed = true), i, j(start = 1);
        equation
          der(u) = i;
          i + j = 1 - u;
          j^3 + j = i;
        end C;
        """,
        "C",
    )
    linear = m.linearize()
    j = m.simulator()["j"]
    # i = 1 - u - j, j³ + j = 1 - u - j: (3 j² + 2) dj = -du, di = -du - dj
    assert linear.A[0, 0] == pytest.approx(-1 + 1 / (3 * j * j + 2), abs=1e-10)


def test_a_point_of_rest() -> None:
    m = saltus.compile_text(
        """
        model T
          input Real q(start = 0.5);
          Real h1(start = 1, fixed = true), h2(start = 3, fixed = true);
        equation
          der(h1) = q - sqrt(max(h1, 0));
          der(h2) = sqrt(max(h1, 0)) - 0.5*h2;
        end T;
        """,
        "T",
    )
    rest = m.steady_state()
    assert rest["h1"] == pytest.approx(0.25, abs=1e-9) and rest["h2"] == pytest.approx(1, abs=1e-9)
    assert sorted(rest.linearize().poles.real) == pytest.approx([-1, -0.5], abs=1e-6)
    assert m.steady_state(inputs={"q": 2.0})["h1"] == pytest.approx(4)
    with_switch = saltus.compile_text(
        "model W Real x(start = -3, fixed = true); equation der(x) = if x < 0 then 1 else 2 - x; end W;", "W"
    )
    assert with_switch.steady_state()["x"] == pytest.approx(2)
    turning = saltus.compile_text(
        "model R Real phi(start = 0, fixed = true), w(start = 1, fixed = true); equation der(phi) = w; der(w) = 2 - w; end R;", "R"
    )
    with pytest.raises(saltus.SaltusError, match="phi"):
        turning.steady_state()


def test_structure_and_modes_are_shown() -> None:
    m = saltus.compile_text("model M Real x(start = 1, fixed = true), y; equation der(x) = -y; y = 2*x; end M;", "M")
    assert m.structure()["states"]
    assert "<svg" in m.show_structure().svg and "<svg" in m.show_modes().svg


def ball(**more: object) -> saltus.Problem:
    def bounce(t: float, x: np.ndarray) -> list[float]:
        return [x[0], -0.8 * x[1]]

    return saltus.ode(
        lambda t, x: [x[1], -9.81], [1, 0], [saltus.When(lambda t, x: x[0], bounce, direction=-1, **more)], names=["h", "v"]
    )


def test_a_problem_in_python_with_events() -> None:
    r = ball().simulate(stop=2, tolerance=1e-9)
    first = math.sqrt(2 / 9.81)
    times = [e.time for e in r.events if e.kind == "state"]
    flight = [2 * 0.8**k * first for k in range(1, 3)]
    assert times[:3] == pytest.approx(np.cumsum([first, *flight]), abs=1e-8)
    assert r.at("v", times[0], side="left") == pytest.approx(-9.81 * first)
    assert r.at("v", times[0]) == pytest.approx(0.8 * 9.81 * first)
    ended = ball(terminal=True).simulate(stop=2, tolerance=1e-9)
    assert ended.time[-1] == pytest.approx(first, abs=1e-8)


def test_two_roots_in_one_step_are_both_found() -> None:
    def dips(t: float, x: np.ndarray) -> float:
        return (x[0] - 5.0) ** 2 - 1e-8

    r = saltus.ode(lambda t, x: [1.0], [0.0], [dips]).simulate(stop=10)
    times = [e.time for e in r.events if e.kind == "state"]
    assert times == pytest.approx([5 - 1e-4, 5 + 1e-4], abs=1e-7)


def test_what_a_callback_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        saltus.ode(lambda t, x: [1 / 0], [0]).simulate(stop=1)
    with pytest.raises(ValueError, match="2 derivatives were given for 1 states"):
        saltus.ode(lambda t, x: [1, 2], [0]).simulate(stop=1)
    with pytest.raises(saltus.SaltusError):
        saltus.ode(lambda t, x: x, [0, 1], names=["a"])


def test_compiled_functions_of_numba() -> None:
    numba = pytest.importorskip("numba")
    from numba import carray, types

    pointer = types.CPointer(types.float64)

    @numba.cfunc(types.void(types.float64, pointer, pointer))
    def fall(t, x, dx):  # type: ignore[no-untyped-def]
        states, rates = carray(x, 2), carray(dx, 2)
        rates[0] = states[1]
        rates[1] = -9.81

    @numba.cfunc(types.float64(types.float64, pointer))
    def height(t, x):  # type: ignore[no-untyped-def]
        return carray(x, 2)[0]

    problem = saltus.ode(fall, [1, 0], [saltus.When(height, lambda t, x: [x[0], -0.8 * x[1]], direction=-1)], names=["h", "v"])
    r, expected = problem.simulate(stop=2, tolerance=1e-9), ball().simulate(stop=2, tolerance=1e-9)
    assert np.array_equal(r["h"], expected["h"]) and np.array_equal(r.time, expected.time)
