"""FMUs: exported, run here and by FMPy."""

import pytest

import saltus

BALL = """
model Ball
  parameter Real e(min = 0, max = 1) = 0.8 "Restitution";
  output Real h(start = 1, fixed = true, unit = "m");
  Real v(start = 0, fixed = true);
  input Real push(start = 0);
  output Integer n(start = 0, fixed = true);
  type Side = enumeration(below, above);
  Side side = if v > 0 then Side.above else Side.below;
equation
  der(h) = v;
  der(v) = -9.81 + push;
  when h < 0 then
    reinit(v, -e*pre(v));
    n = pre(n) + 1;
  end when;
end Ball;
"""


@pytest.fixture(scope="module")
def ball():
    return saltus.compile_text(BALL, "Ball")


@pytest.fixture(params=[2, 3])
def fmu(ball, request, tmp_path):
    path = tmp_path / "ball.fmu"
    ball.export_fmu(path, fmi=request.param)
    return path


def test_an_fmu_runs_here_as_its_model(ball, fmu):
    with pytest.raises(saltus.SaltusError, match="allow"):
        saltus.load_fmu(fmu).simulate()
    loaded = saltus.load_fmu(fmu, allow=True)
    assert loaded.kinds == ["cs"] and loaded.variables["e"].start == "0.8"
    run = loaded.simulate(stop=2, interval=0.1, set={"e": 0.7}, tolerance=1e-8)
    model = ball.simulate(stop=2, interval=0.1, set={"e": 0.7}, tolerance=1e-8, inputs={"push": 0})
    for time in (0.3, 1.0, 2.0):
        assert run.at("h", time) == pytest.approx(model.at("h", time), abs=1e-12)
    assert run["n"][-1] == model["n"][-1]


def test_fmpy_finds_nothing_wrong_and_gets_the_same_numbers(ball, fmu):
    fmpy = pytest.importorskip("fmpy")
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(fmu)) == []
    rows = fmpy.simulate_fmu(str(fmu), stop_time=2, output_interval=0.1, start_values={"e": 0.7}, output=["h", "v", "n", "side"])
    model = ball.simulate(stop=2, set={"e": 0.7}, inputs={"push": 0})
    assert rows["h"][-1] == pytest.approx(model["h"][-1], abs=1e-9)
    assert rows["n"][-1] == model["n"][-1]


def test_what_is_no_fmu_is_an_error(ball, tmp_path):
    (tmp_path / "none.fmu").write_text("no archive")
    with pytest.raises(saltus.SaltusError, match="ZIP"):
        saltus.load_fmu(tmp_path / "none.fmu")
    with pytest.raises(saltus.SaltusError, match="2 or 3"):
        ball.export_fmu(tmp_path / "one.fmu", fmi=1)
