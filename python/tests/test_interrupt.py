"""Ctrl-C ends whatever is under way within half a second, and what was computed is kept."""

import signal
import subprocess
import sys
import textwrap
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")

SETUP = """
import signal, sys, time
import saltus

slow = saltus.compile_text("model S Real x(start = 0, fixed = true); equation der(x) = cos(3000*time); end S;", "S")
large = "model L Real x[4000](each start = 1, each fixed = true); equation for i in 1:4000 loop der(x[i]) = -x[i]*x[if i > 1 then i - 1 else 4000]; end for; end L;"
"""

# What is done, and what must hold of the exception.
CASES = {
    "compile": ("saltus.compile_text(large.replace('4000', '20000'), 'L')", "True"),
    "run": ("slow.simulate(stop=1e4, interval=0.01)", "error.result.time_reached > 0 and len(error.result.time) > 10"),
    "input": ("saltus.compile_text('model I input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end I;', 'I').simulate(stop=1e9, interval=1.0, inputs={'u': lambda t: t % 2})", "error.result.time_reached >= 0"),
    "advance": ("slow.simulator().advance(1e9)", "True"),
}


@pytest.mark.parametrize("case", CASES)
def test_ctrl_c(case: str) -> None:
    what, holds = CASES[case]
    program = SETUP + textwrap.dedent(
        f"""
        print("go", flush=True)
        try:
            {what}
        except KeyboardInterrupt as error:
            at = time.monotonic()
            assert isinstance(error, saltus.SaltusError), type(error)
            assert {holds}, error
            print(at, flush=True)
            sys.stdout.flush()
            import os
            os._exit(0)
        print("not interrupted")
        """
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "go\n"
        time.sleep(0.3)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        answer = child.stdout.readline()
        assert child.wait(timeout=60) == 0, answer
        assert float(answer) - sent < 0.5, f"it took {float(answer) - sent:.2f} s"


def test_another_signal_handler_is_called_and_its_exception_raised() -> None:
    program = SETUP + textwrap.dedent(
        """
        def late(number, frame):
            raise TimeoutError("late")

        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            slow.simulate(stop=1e4, interval=0.01)
        except TimeoutError as error:
            print("timed out", error.result.time_reached > 0)
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "timed out True\n", done.stderr
