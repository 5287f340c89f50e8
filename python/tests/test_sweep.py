"""Many runs: here, and on engines. The table is always the same."""

import os
import pickle
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import saltus
from saltus import distributed

TEXT = """
model Ball
  parameter Real mu = 0.8;
  parameter Integer n = 1;
  parameter Real g = 9.81;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  Real copies[n] = fill(h, n);
  output Real y = h;
equation
  der(h) = v;
  der(v) = -g;
  when h < 0 then reinit(v, -mu*pre(v)); end when;
  assert(mu < 0.95, "too elastic");
end Ball;
"""

MEASURE = {"end": "h", "top": "max(v)", "low": "min(h)", "half": "at(h, 0.5)", "mean": "mean(h)"}


@pytest.fixture(scope="module")
def ball() -> saltus.Model:
    return saltus.compile_text(TEXT, "Ball")


def cases(n: int) -> list[dict[str, float]]:
    return [{"mu": 0.1 + 0.8 * k / n, "h": 1 + (k % 7) / 10} for k in range(n)]


def test_rows_are_the_runs_themselves(ball: saltus.Model) -> None:
    t = ball.sweep(grid={"mu": [0.5, 0.7], "g": [9.81, 1.62]}, measure=MEASURE, stop=2)
    assert len(t) == 4 and t.columns == ["mu", "g", *MEASURE, "time", "status", "error"]
    assert t["mu"].tolist() == [0.5, 0.5, 0.7, 0.7] and t["g"].tolist() == [9.81, 1.62] * 2
    for k in range(4):
        r = ball.simulate(stop=2, set={"mu": t["mu"][k], "g": t["g"][k]})
        assert t["end"][k] == r.final("h") and t["top"][k] == max(r["v"]) and t["low"][k] == min(r["h"])
        assert t["half"][k] == r.at("h", 0.5)
    assert set(t["status"]) == {"done"} and set(t["time"]) == {2.0}
    assert list(ball.sweep(grid={"mu": [0.5]}).measures) == ["y"]


def test_a_case_that_fails_is_a_row(ball: saltus.Model) -> None:
    t = ball.sweep(cases=[{"mu": 0.5}, {"mu": 0.97}, {"mu": "text"}, {"n": 3}], measure="h", stop=1)
    assert t.failed == [1, 2]
    assert "too elastic" in t["error"][1] and np.isnan(t["h"][2])
    assert t["h"][0] == t["h"][0] and t["mu"][3] is None
    with pytest.raises(saltus.SaltusError, match="nothing"):
        ball.sweep(grid={"mu": [0.5]}, measure="nothing")
    with pytest.raises(ValueError, match="median"):
        ball.sweep(grid={"mu": [0.5]}, measure="median(h)")
    with pytest.raises(saltus.SaltusError):
        ball.sweep()


def test_cases_in_all_forms(ball: saltus.Model) -> None:
    expected = ball.sweep(cases=[{"mu": 0.5, "g": 1.0}, {"mu": 0.6, "g": 2.0}], measure="h")
    assert ball.sweep(cases={"mu": np.array([0.5, 0.6]), "g": [1.0, 2.0]}, measure="h") == expected
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"mu": [0.5, 0.6], "g": [1.0, 2.0]})
    table = ball.sweep(cases=frame, measure="h")
    assert table == expected and table.to_pandas()["mu"].tolist() == [0.5, 0.6]


def test_a_latin_hypercube_has_one_point_in_each_layer(ball: saltus.Model) -> None:
    t = ball.sweep(lhs={"mu": (0.0, 0.9), "g": (1.0, 10.0)}, count=9, measure="h", seed=3)
    assert sorted((t["mu"] * 10).astype(int).tolist()) == list(range(9))
    assert t == ball.sweep(lhs={"mu": (0.0, 0.9), "g": (1.0, 10.0)}, count=9, measure="h", seed=3)
    assert t != ball.sweep(lhs={"mu": (0.0, 0.9), "g": (1.0, 10.0)}, count=9, measure="h", seed=4)


def test_trajectories_are_kept(ball: saltus.Model) -> None:
    t = ball.sweep(cases=[*cases(5), {"mu": 0.97}], measure=MEASURE, stop=1, keep="trajectories")
    assert t.results is not None and t.results[0] is not None
    assert t["end"][0] == t.results[0]["h"][-1] and t["status"][5] != "done"
    assert t["end"][:5].tolist() == ball.sweep(cases=cases(5), measure=MEASURE, stop=1)["end"].tolist()


def test_the_number_of_threads_changes_nothing(ball: saltus.Model) -> None:
    one = ball.sweep(cases=cases(50), measure=MEASURE, stop=2, jobs=1)
    assert one == ball.sweep(cases=cases(50), measure=MEASURE, stop=2, jobs=3)
    seen: list[float] = []
    ball.sweep(cases=cases(3000), measure=MEASURE, stop=2, progress=lambda n, begin, end: seen.append(n / end))
    assert seen == sorted(seen) and all(0 < share <= 1 for share in seen)


def test_models_pickle(ball: saltus.Model) -> None:
    bound = ball.with_settings(mu=0.5, n=2)
    content = pickle.dumps(bound)
    back = pickle.loads(content)
    r, s = bound.simulate(stop=2), back.simulate(stop=2)
    assert r.names == s.names
    assert all(np.array_equal(r[name], s[name], equal_nan=True) for name in r.names)
    assert back.parameters["mu"] == bound.parameters["mu"]
    assert back.simulate(set={"n": 3})["copies"].shape[1] == 3
    assert len(content) < 200_000
    with pytest.raises(saltus.SaltusError, match="text"):
        back.structure()


def test_results_pickle(ball: saltus.Model) -> None:
    r = ball.simulate(stop=1)
    s = pickle.loads(pickle.dumps(r))
    assert s.names == r.names and np.array_equal(s["h"], r["h"]) and s.events == r.events
    assert s.unit("h") == r.unit("h") and s.statistics == r.statistics
    with pytest.raises(saltus.SaltusError) as caught:
        ball.simulate(set={"mu": 0.97})
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == str(caught.value) and error.diagnostics == caught.value.diagnostics


def test_batches_take_the_time_that_is_wanted() -> None:
    for seconds in (1e-5, 1e-3, 0.05, 0.3, 5.0):
        sizes = list(distributed.batches(20_000, 2, seconds))
        assert sum(sizes) == 20_000
        measured = [size * seconds for size in sizes]
        middle = measured[len(measured) // 2]
        assert middle <= max(1.0, seconds) * 1.001, seconds
        if seconds * 20_000 > 5:
            assert middle >= min(0.1, seconds) * 0.99, seconds


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_concurrent_futures(ball: saltus.Model, pool: type) -> None:
    work = [*cases(300), {"mu": 0.97}, {"n": 2}]
    serial = ball.sweep(cases=work, measure=MEASURE, stop=2)
    arguments = {}
    if pool is ProcessPoolExecutor:
        import multiprocessing

        arguments["mp_context"] = multiprocessing.get_context("spawn")
    with pool(2, **arguments) as executor:
        assert ball.sweep(cases=work, measure=MEASURE, stop=2, executor=executor) == serial
    assert serial.failed == [300]


def test_joblib(ball: saltus.Model) -> None:
    joblib = pytest.importorskip("joblib")
    serial = ball.sweep(cases=cases(300), measure=MEASURE, stop=2)
    assert ball.sweep(cases=cases(300), measure=MEASURE, stop=2, executor=joblib.Parallel(2)) == serial


def test_an_executor_that_is_none(ball: saltus.Model) -> None:
    with pytest.raises(saltus.SaltusError, match="no engine"):
        ball.sweep(cases=cases(2), executor=object())


@pytest.mark.slow
def test_dask(ball: saltus.Model) -> None:
    dask = pytest.importorskip("distributed")
    serial = ball.sweep(cases=cases(1000), measure=MEASURE, stop=3)
    with dask.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, dask.Client(cluster) as client:
        assert ball.sweep(cases=cases(1000), measure=MEASURE, stop=3, executor=client) == serial

        # Each worker is killed in the middle, so also the one that holds the model; none of the runs is lost.
        for delay, pid in zip((0.3, 1.0), client.run(os.getpid).values(), strict=True):
            threading.Timer(delay, os.kill, (pid, signal.SIGKILL)).start()
        many = cases(4000)
        assert ball.sweep(cases=many, measure=MEASURE, stop=5, executor=client) == ball.sweep(cases=many, measure=MEASURE, stop=5)


@pytest.mark.slow
def test_ray(ball: saltus.Model) -> None:
    ray = pytest.importorskip("ray")
    serial = ball.sweep(cases=cases(1000), measure=MEASURE, stop=3)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        assert ball.sweep(cases=cases(1000), measure=MEASURE, stop=3, executor=ray) == serial
    finally:
        ray.shutdown()


def test_ctrl_c_keeps_the_runs_that_were_completed() -> None:
    slow = saltus.compile_text("model S parameter Real k = 1; Real x(start = 0, fixed = true); equation der(x) = k*cos(300*time); end S;", "S")

    def interrupt() -> None:
        time.sleep(0.4)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    begin = time.monotonic()
    with pytest.raises(saltus.Interrupted) as caught:
        slow.sweep(grid={"k": np.linspace(1, 2, 100_000)}, measure="x", stop=2, intervals=10)
    assert time.monotonic() - begin < 0.4 + 0.5
    table = caught.value.result
    assert len(table) > 0 and set(table["status"]) == {"done"}
