#!/bin/sh
# Makes .venv ready: `setup.sh report` installs what building reports needs, `setup.sh dev` what the tests need too.
# What the machine lacks comes through apt where that may run unasked (root, or sudo without a password);
# elsewhere the command to type is printed and the exit code is 1. A second run with nothing new takes no time.
set -eu
cd "$(dirname "$0")/.."

kind=${1:-dev}
case $kind in report | dev) ;; *) echo "usage: $0 [report|dev]" >&2; exit 2 ;; esac

# A virtual environment holds absolute paths, so a checkout that moved needs a new one: the folder is in the key.
key=$({ pwd; cat requirements.lock pyproject.toml "$0"; } | cksum)
ready() { [ "$(cat ".venv/.ready-$1" 2>/dev/null)" = "$key" ] && .venv/bin/python -c '' 2>/dev/null; }
if ready dev || ready "$kind"; then exit 0; fi

say() { printf '%s\n' "$@" >&2; }

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        if new_enough "$name"; then command -v "$name"; return; fi
    done
}

# The packages (Debian's names) of what WeasyPrint loads and does not find.
missing_libraries() {
    "$1" - <<'PY'
import ctypes
packages = {
    "libpango-1.0-0": ("libpango-1.0.so.0", "libpango-1.0.dylib"),
    "libpangoft2-1.0-0": ("libpangoft2-1.0.so.0", "libpangoft2-1.0.dylib"),
    "libharfbuzz-subset0": ("libharfbuzz-subset.so.0", "libharfbuzz-subset.0.dylib"),
}
def loads(name):
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
print(*(package for package, names in packages.items() if not any(map(loads, names))))
PY
}

# What apt must bring for the Python that was found (or, with none found, for one that is new enough).
missing_packages() {
    if [ -z "$python" ]; then
        say "No Python 3.11 or newer was found."
        echo "python3-venv libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"
        return
    fi
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        "$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'
    fi
    missing_libraries "$python"
}

apt_install() {
    if [ "$(id -u)" = 0 ]; then as_root=
    elif sudo -n true 2>/dev/null; then as_root="sudo -n"
    else return 1; fi
    command -v apt-get >/dev/null || return 1
    say "Installing with apt: $*"
    $as_root apt-get update -qq >&2 &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

python=$(find_python)
packages=$(missing_packages | xargs)
if [ -n "$packages" ]; then
    # shellcheck disable=SC2086  # a list of package names
    if ! apt_install $packages; then
        if command -v apt-get >/dev/null; then
            say "System packages are missing. Type this, then start again:" \
                "" "    sudo apt-get update && sudo apt-get install --no-install-recommends $packages" ""
        else
            say "Missing here, by their names in Debian: $packages." \
                "Install them with this system's package manager (macOS: brew install python pango), then start again."
        fi
        exit 1
    fi
    python=$(find_python)
    if [ -z "$python" ]; then
        say "apt's python3 is older than 3.11: install a newer one, then start again with PYTHON=/path/to/python3."
        exit 1
    fi
fi

if ! { new_enough .venv/bin/python && .venv/bin/python -m pip --version >/dev/null 2>&1; }; then
    say "Creating .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
fi
rm -f .venv/.ready-*
say "Installing Python packages into .venv"
pip() { .venv/bin/python -m pip --quiet --disable-pip-version-check "$@"; }
if [ "$kind" = dev ]; then
    pip install -r requirements.lock
    pip install --no-deps --no-build-isolation -e .
else
    pip install -c requirements.lock -e .
fi
printf '%s\n' "$key" >".venv/.ready-$kind"
