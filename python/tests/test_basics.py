"""Compile, run, look at the result."""

import math
import threading

import numpy as np
import pytest

import saltus

BALL = """
model Ball "A ball"
  parameter Real mu(min = 0, max = 1) = 0.8 "Restitution";
  parameter Integer n = 2 "Number of things";
  parameter Real w[n] = fill(1.0, n);
  parameter Boolean heavy = false;
  Real h(unit = "m", start = 1, fixed = true) "Height", v(unit = "m/s", start = 0, fixed = true);
  Real down(unit = "m") = -h;
  Real sums[n] = w*h;
  Integer bounces(start = 0, fixed = true);
  Boolean low = h < 0.5;
equation
  der(h) = v;
  der(v) = -9.81;
  when h < 0 then
    reinit(v, -mu*pre(v));
    bounces = pre(bounces) + 1;
  end when;
  annotation(experiment(StopTime = 1));
end Ball;
"""

BOUNCE = math.sqrt(2 / 9.81)


@pytest.fixture(scope="module")
def ball() -> saltus.Model:
    return saltus.compile_text(BALL, "Ball")


def test_values_and_both_sides_of_an_event(ball: saltus.Model) -> None:
    r = ball.simulate(tolerance=1e-9)
    assert r.time[0] == 0 and r.time[-1] == 1
    event = next(e for e in r.events if e.kind == "state" and e.cause and any(c.variable == "v" for c in e.changed))
    assert event.time == pytest.approx(BOUNCE, abs=1e-9)
    speed = 9.81 * BOUNCE
    assert r.at("v", event.time, side="left") == pytest.approx(-speed, rel=1e-8)
    assert r.at("v", event.time, side="right") == pytest.approx(0.8 * speed, rel=1e-8)
    jump = next(c for c in event.changed if c.variable == "v")
    assert (jump.before, jump.after) == pytest.approx((-speed, 0.8 * speed), rel=1e-8)
    assert list(r.at("h", [0.0, 0.1])) == pytest.approx([1.0, 1 - 9.81 / 2 * 0.01], abs=1e-4)
    rows = np.flatnonzero(r.time == event.time)
    assert len(rows) == 2
    assert r["v"][rows[0]] < 0 < r["v"][rows[1]]


def test_columns_are_views_of_the_numbers_of_the_run(ball: saltus.Model) -> None:
    r = ball.simulate()
    h = r["h"]
    assert h.dtype == np.float64 and not h.flags.writeable
    assert np.shares_memory(h, saltus.Result(r._run)["h"])
    assert np.shares_memory(r.time, saltus.Result(r._run).time)
    with pytest.raises(ValueError):
        h[0] = 2
    last = h[-1]
    del r
    assert h[-1] == last, "the numbers live as long as somebody looks at them"


def test_columns_have_the_types_of_the_variables(ball: saltus.Model) -> None:
    r = ball.simulate()
    assert r["bounces"].dtype == np.int64 and r["bounces"][-1] >= 1
    assert r["low"].dtype == np.bool_ and not r["low"][0]
    assert r["mu"].shape == r.time.shape and set(r["mu"]) == {0.8}
    assert np.array_equal(r["down"], -r["h"])
    assert r["sums"].shape == (len(r.time), 2)
    assert np.array_equal(r["sums"][:, 1], r["h"])
    assert r.unit("h") == "m" and r.description("h") == "Height"
    assert "h" in r and "time" in r and "g" not in r


def test_an_unknown_name_is_said_with_a_similar_one(ball: saltus.Model) -> None:
    r = ball.simulate()
    with pytest.raises(KeyError, match="bounces"):
        r["bounce"]
    with pytest.raises(saltus.SaltusError):
        r.at("h", 5.0)


def test_parameters_tell_what_they_are(ball: saltus.Model) -> None:
    mu = ball.parameters["mu"]
    assert (mu.value, mu.min, mu.max, mu.type, mu.description) == (0.8, 0.0, 1.0, "Real", "Restitution")
    assert mu.settable and mu.structural is None
    assert ball.parameters["n"].structural
    assert ball.parameters["w"].value == [1.0, 1.0]
    assert ball.variables["h"].unit == "m"
    with pytest.raises(KeyError, match="mu"):
        ball.parameters["muu"]
    assert "mu" in repr(ball.parameters) and "Restitution" in ball.parameters._repr_html_()


def test_settings_of_all_types(ball: saltus.Model) -> None:
    assert ball.simulate(set={"mu": 0.5})["mu"][0] == 0.5
    assert ball.simulate(set={"mu": np.float64(0.5), "h": 2})["h"][0] == 2
    assert ball.simulate(set={"n": 3, "w": np.array([1.0, 2.0, 3.0])})["sums"].shape[1] == 3
    assert ball.with_settings(mu=0.25).parameters["mu"].value == 0.25
    assert ball.parameters["mu"].value == 0.8
    for wrong in ({"mu": 2.0}, {"mu": "text"}, {"mu": [1.0]}, {"bounces": 1.5}, {"nu": 1.0}):
        with pytest.raises(saltus.SaltusError):
            ball.simulate(set=wrong)
    with pytest.raises(TypeError):
        ball.simulate(set={"mu": object()})


def test_options_are_understood_or_refused(ball: saltus.Model) -> None:
    assert len(ball.simulate(stop=0.3, intervals=3).time) == 4
    assert ball.simulate(stop=0.3, interval=0.1).time[1] == pytest.approx(0.1)
    assert list(ball.simulate(variables=["h", "v"])) == ["h", "v"]
    assert list(ball.simulate(variables="b*")) == ["bounces"]
    assert ball.simulate(start=0.5, stop=1).time[0] == 0.5
    assert ball.simulate(solver="radau").statistics["solver"] == "radau"
    with pytest.raises(saltus.SaltusError, match="radau"):
        ball.simulate(solver="magic")
    for wrong in ({"tolerance": -1}, {"stop": math.nan}, {"interval": 0}):
        with pytest.raises(ValueError):
            ball.simulate(**wrong)


def test_errors_have_place_and_cure() -> None:
    with pytest.raises(saltus.SaltusError) as caught:
        saltus.compile_text("model M\n  Real x;\nequation\n  der(x) = y;\nend M;", "M")
    error = caught.value
    assert error.kind == "model" and error.result is None
    d = error.diagnostics[0]
    assert (d.code, d.severity, d.line, d.file) == ("unknown-name", "error", 4, "M.mo")
    assert "y" in d.text and "M.mo:4" in str(error)
    assert "<pre" in error._repr_html_()


def test_a_run_that_fails_keeps_what_it_computed() -> None:
    m = saltus.compile_text(
        'model M Real x(start = 0, fixed = true); equation der(x) = 1; assert(x < 0.5, "too much"); end M;', "M"
    )
    with pytest.raises(saltus.SaltusError, match="too much") as caught:
        m.simulate(stop=1)
    result = caught.value.result
    assert result is not None and caught.value.kind == "run"
    assert 0.4 < result.time[-1] <= 0.5 + 1e-6
    assert result["x"][-1] == pytest.approx(result.time[-1])


def test_inputs_are_constants_tables_or_functions() -> None:
    lag = saltus.compile_text(
        "model Lag input Real u; Real x(start = 0, fixed = true); equation der(x) = u - x; end Lag;", "Lag"
    )
    assert lag.simulate(stop=1, tolerance=1e-9, inputs={"u": 1.0}).final("x") == pytest.approx(1 - math.exp(-1))
    wave = lag.simulate(stop=2, tolerance=1e-9, inputs={"u": lambda t: math.sin(t) + math.cos(t)})
    assert wave.final("x") == pytest.approx(math.sin(2), abs=1e-7)
    t = np.array([0.0, 1.0, 1.0, 3.0])
    table = lag.simulate(stop=3, tolerance=1e-9, inputs={"u": (t, np.array([0.0, 0.0, 1.0, 1.0]))})
    assert table.final("x") == pytest.approx(1 - math.exp(-2), abs=1e-7)
    assert (table.at("u", 1, side="left"), table.at("u", 1)) == (0.0, 1.0)
    pulse = lag.simulate(stop=100, inputs={"u": ([0, 50, 50, 50.001, 50.001], [0, 0, 1000, 1000, 0])})
    assert max(pulse["x"]) == pytest.approx(1, rel=1e-3), "a pulse is not stepped over"
    with pytest.raises(saltus.SaltusError, match="decrease"):
        lag.simulate(inputs={"u": ([1, 0], [0, 0])})
    with pytest.raises(saltus.SaltusError):
        lag.simulate(inputs={"w": 1})
    with pytest.raises(saltus.SaltusError):
        lag.simulate()
    with pytest.raises(ZeroDivisionError):
        lag.simulate(inputs={"u": lambda t: 1 / 0})


def test_a_file_and_a_session(tmp_path) -> None:
    path = tmp_path / "Two.mo"
    path.write_text("model One Real x = 1; end One; model Two Real x = 2; end Two;")
    assert saltus.compile(path).name == "Two"
    assert saltus.compile(str(path), model="One").simulate().final("x") == 1
    session = saltus.Session()
    session.set_text("A.mo", "model A Real x = 3; end A;")
    assert saltus.compile("A", session=session).simulate().final("x") == 3
    session.set_text("A.mo", "model A Real x = z; end A;")
    assert [d.code for d in session.check("A")] == ["unknown-name"]
    assert "der" in session.show(session.load_file(path), "structure") or session.show("Two", "flat")
    with pytest.raises(saltus.SaltusError, match="not a folder"):
        saltus.Session(["/nowhere/at/all"])
    with pytest.raises(saltus.SaltusError):
        saltus.compile("No.Such.Class")


def test_progress_is_told(ball: saltus.Model) -> None:
    seen: list[float] = []
    slow = saltus.compile_text(
        "model S Real x(start = 0, fixed = true); equation der(x) = cos(3000*time); end S;", "S"
    )
    slow.simulate(stop=100, intervals=2, progress=lambda t, start, stop: seen.append(t / stop))
    assert seen and seen == sorted(seen) and 0 < seen[0] < 1

    def stop_it(t: float, start: float, stop: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as caught:
        slow.simulate(stop=1e6, interval=1e-2, progress=stop_it)
    assert caught.value.result.time_reached > 0
    slow.simulate(stop=20, progress=True)


def test_threads_share_a_model(ball: saltus.Model) -> None:
    results = [None] * 4

    def work(k: int) -> None:
        results[k] = ball.simulate(set={"mu": 0.1 * (k + 1)}).final("h")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert results == [ball.simulate(set={"mu": 0.1 * (k + 1)}).final("h") for k in range(4)]


def test_it_draws_itself_in_a_notebook(ball: saltus.Model) -> None:
    r = ball.simulate()
    assert "<svg" in r._repr_html_() and "Ball" in r._repr_html_()
    assert "<svg" in r.plot("h", "v")._repr_html_() and "<svg" in r.plot("v", over="h").svg
    assert "Ball" in repr(r) and "Ball" in repr(ball) and "mu" in ball._repr_html_()
    with pytest.raises(ValueError, match="hh"):
        r.plot("hh")
