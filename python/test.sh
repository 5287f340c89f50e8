#!/usr/bin/env bash
# Builds the wheel, installs it into an environment of its own (.venv-tests), and runs the tests of the package against it.
#   python/test.sh            everything that can be had here
#   python/test.sh -k sweep   arguments go to pytest
# What cannot be had (no Python 3.11, no package index) is said at the end, and is no failure.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd .. && pwd)
environment="$root/.venv-tests"
wheels="$root/target/wheels-test"
skipped=()

finish() {
    for what in "${skipped[@]+"${skipped[@]}"}"; do echo "python/test.sh: skipped: $what"; done
    exit "$1"
}

python=
for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
    if [ -n "$candidate" ] && "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    skipped+=("all tests of the Python package: there is no Python 3.11 or newer with venv")
    finish 0
fi
if [ ! -x "$environment/bin/python" ]; then "$python" -m venv "$environment"; fi
pip() { "$environment/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }
has() { "$environment/bin/python" -c "import $1" 2>/dev/null; }

# What the tests need at least; then what they need for more, each alone, so that one that is missing costs its own tests only.
if ! { has maturin && has numpy && has pytest; } && ! pip install maturin 'numpy>=1.26' pytest; then
    skipped+=("all tests of the Python package: maturin, numpy and pytest cannot be installed")
    finish 0
fi
for pair in pandas:pandas pyarrow:pyarrow xarray:xarray scipy:scipy tqdm:tqdm joblib:joblib distributed:distributed ray:ray numba:numba gymnasium:gymnasium fmpy:fmpy \
    DyMat:DyMat pytest-lsp:pytest_lsp mypy:mypy nbconvert:nbconvert ipykernel:ipykernel matplotlib:matplotlib 'pandas-stubs:pandas_stubs'; do
    package=${pair%%:*} module=${pair##*:}
    [ "$module" = pandas_stubs ] && [ -d "$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pandas-stubs" ] && continue
    has "$module" || pip install --only-binary :all: "$package" 2>/dev/null || pip install "$package" 2>/dev/null ||
        skipped+=("tests with $package: it cannot be installed")
done

# The profile of the other tests: what they have built is used again.
rm -rf "$wheels"
"$environment/bin/python" -m maturin build --quiet --profile "${SALTUS_WHEEL_PROFILE:-dev}" --out "$wheels" --interpreter "$environment/bin/python"
pip install --force-reinstall --no-deps "$wheels"/saltus-*.whl

status=0
"$environment/bin/pytest" -p no:cacheprovider --doctest-modules --ignore=tests/missing.py --pyargs saltus tests "$@" || status=1

if [ $# -eq 0 ]; then
    # Types: of the package, and of the examples as scripts. Then the examples are run.
    scripts="$root/target/notebooks"
    rm -rf "$scripts" && mkdir -p "$scripts"
    if has mypy; then "$environment/bin/mypy" src || status=1; else skipped+=("types: there is no mypy"); fi
    if has nbconvert && has ipykernel; then
        "$environment/bin/jupyter-nbconvert" --log-level WARN --to script --output-dir "$scripts" examples/*.ipynb || status=1
        if has mypy; then
            for script in "$scripts"/*.py; do "$environment/bin/mypy" --config-file pyproject.toml "$script" || status=1; done
        fi
        for notebook in examples/*.ipynb; do
            missing=$("$environment/bin/python" tests/missing.py "$notebook")
            if [ -n "$missing" ]; then
                skipped+=("$notebook: there is no $missing")
                continue
            fi
            "$environment/bin/jupyter-nbconvert" --log-level WARN --to notebook --execute --ExecutePreprocessor.timeout=300 \
                --output-dir "$scripts" "$notebook" || status=1
        done
    else
        skipped+=("the notebooks: there is no nbconvert or no ipykernel")
    fi
fi
finish $status
