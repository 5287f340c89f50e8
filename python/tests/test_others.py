"""What other packages see of a result."""

from pathlib import Path

import numpy as np
import pytest

import saltus

TEXT = """
model Ball
  parameter Real mu = 0.8;
  Real h(unit = "m", start = 1, fixed = true) "Height", v(unit = "m/s", start = 0, fixed = true);
  Boolean low = h < 0.5;
equation
  der(h) = v;
  der(v) = -9.81;
  when h < 0 then reinit(v, -mu*pre(v)); end when;
end Ball;
"""


@pytest.fixture(scope="module")
def result() -> saltus.Result:
    return saltus.compile_text(TEXT, "Ball").simulate(stop=1)


def test_pandas_has_both_sides(result: saltus.Result) -> None:
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert frame.index.name == "time" and list(frame.columns) == result.names
    assert np.array_equal(frame["h"], result["h"]) and frame["low"].dtype == bool
    assert frame.attrs["units"]["h"] == "m"
    bounce = next(e.time for e in result.events if any(c.variable == "v" for c in e.changed) and e.time > 0)
    both = frame.loc[bounce, "v"].to_list()
    assert len(both) == 2 and both[0] < 0 < both[1]
    assert result.to_pandas("v", sides="left").loc[bounce, "v"] == both[0]
    assert result.to_pandas(["v"], sides="right").loc[bounce, "v"] == both[1]
    assert result.to_pandas(sides="left").index.is_unique


def test_xarray_has_units(result: saltus.Result) -> None:
    pytest.importorskip("xarray")
    data = result.to_xarray()
    assert data["h"].attrs == {"units": "m", "long_name": "Height"}
    assert np.array_equal(data["time"], result.time)


def test_arrow_shares_the_memory(result: saltus.Result) -> None:
    pa = pytest.importorskip("pyarrow")
    table = result.to_arrow()
    assert table.column_names == ["time", *result.names]
    column = table.column("h").chunk(0)
    assert column.buffers()[1].address == result["h"].__array_interface__["data"][0]
    assert table.schema.field("h").metadata[b"unit"] == b"m"
    assert pa.table(result).num_rows == len(result.time), "by the C stream interface"


@pytest.mark.parametrize("ending", ["mat", "csv", "parquet"])
def test_files_hold_the_same_numbers(result: saltus.Result, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"r.{ending}"
    result.save(path)
    if ending == "csv":
        pandas = pytest.importorskip("pandas")
        frame = pandas.read_csv(path)
        assert np.array_equal(frame["h"], result["h"]) and np.array_equal(frame["time"], result.time)
    elif ending == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        assert np.array_equal(parquet.read_table(path)["h"], result["h"])
    else:
        dymat = pytest.importorskip("DyMat")
        file = dymat.DyMatFile(str(path))
        assert np.array_equal(file.data("h"), result["h"]) and np.array_equal(file.data("v"), result["v"])
        assert np.array_equal(file.abscissa("h", valuesOnly=True), result.time)
    with pytest.raises(saltus.SaltusError, match="ends with"):
        result.save(tmp_path / "r.txt")


def test_a_run_is_stepped_saved_and_restored() -> None:
    import pickle

    m = saltus.compile_text(
        "model Room input Real heat(start = 0); Real T(start = 10, fixed = true); output Real y = 2*T; equation der(T) = heat - 0.1*(T - 10); end Room;",
        "Room",
    )
    s = m.simulator(tolerance=1e-8)
    s["heat"] = 1.0
    s.advance(5)
    assert s.time == 5 and s["T"] == pytest.approx(10 + 10 * (1 - np.exp(-0.5)), rel=1e-6)
    assert s.outputs == {"y": 2 * s["T"]} and list(s.states) == ["T"]
    assert s.derivatives["T"] == pytest.approx(1 - 0.1 * (s["T"] - 10))
    state = pickle.loads(pickle.dumps(s.save()))
    s.advance(5)
    after = s["T"]
    other = m.simulator(tolerance=1e-8)
    other.restore(state)
    other.advance_to(10)
    assert other["T"] == after and other.time == 10
    other["T"] = 20.0
    other.advance(1e-9)
    assert other["T"] == pytest.approx(20)
    assert other.at("T", other.time) == other["T"]
    r = other.finish()
    assert isinstance(r, saltus.Result)
    with pytest.raises(RuntimeError):
        other.advance(1)
    with pytest.raises(saltus.SaltusError):
        s.advance(-1)
    with pytest.raises(saltus.SaltusError):
        s["nothing"]


def test_a_table_drives_a_stepped_run_and_survives_going_back() -> None:
    m = saltus.compile_text("model I input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end I;", "I")
    table = ([0.0, 1.0, 1.0, 2.0, 3.0], [0.0, 0.0, 2.0, 2.0, 0.0])
    exact = {0.5: 0.0, 1.5: 1.0, 2.0: 2.0, 3.0: 3.0, 4.0: 3.0}
    s = m.simulator(inputs={"u": table})
    begin = s.save()
    for _ in range(2):
        for t, x in exact.items():
            s.advance_to(t)
            assert s["x"] == pytest.approx(x, abs=1e-6), t
        s.restore(begin)
    events = []
    while s.time < 4 and s.advance_to(4, to_event=True) == "event":
        events.append(s.time)
    assert events == [1.0, 2.0, 3.0]
