#!/usr/bin/env bash
# Tests of the page: types, the built page against its source, and the page in a real browser.
#   web/test.sh
# What cannot be had (Node, packages, Chromium) is said at the end, and is no failure.
set -euo pipefail
cd "$(dirname "$0")"
skipped=()
finish() {
    for what in "${skipped[@]+"${skipped[@]}"}"; do echo "web/test.sh: skipped: $what"; done
    exit "$1"
}

if ! node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' 2>/dev/null; then
    skipped+=("all tests of the page: there is no Node 20 or newer")
    finish 0
fi
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    if ! npm ci --no-audit --no-fund --silent; then
        skipped+=("all tests of the page: its packages cannot be installed")
        finish 0
    fi
fi
status=0
npx --no-install tsc --noEmit || status=1
node build.mjs --check || status=1

browser=
find_browser() {
    for candidate in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
        if [ -n "$candidate" ] && command -v "$candidate" >/dev/null; then
            browser=$(command -v "$candidate")
            return
        fi
    done
}
find_browser
# On a machine of its own (a container of CI) the browser is installed.
if [ -z "$browser" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium) >/dev/null 2>&1 || true
    find_browser
fi
if [ -z "$browser" ]; then
    skipped+=("the page in a browser: there is no Chromium (set CHROMIUM to one)")
    finish $status
fi
(cd .. && cargo build --quiet -p saltus-cli)
CHROMIUM="$browser" timeout 300 node test/run.mjs || status=1
finish $status
