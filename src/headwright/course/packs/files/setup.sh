#!/bin/sh
# Makes the checker's own Python environment out of the bundled wheels. No network is needed where
# the right Python is there already.
#
#     setup.sh [FOLDER OF THE ENVIRONMENT]
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
environment=${1:-$here/environment}
wanted=$(cat "$here/pythons.txt")

find_python() {
    for version in $wanted; do
        if "python$version" -c "import ensurepip, venv" 2>/dev/null; then
            echo "python$version"
            return 0
        fi
    done
    return 1
}

fetch_python() {
    command -v apt-get >/dev/null || return 0
    apt-get update -qq || return 0
    for version in $wanted; do
        apt-get install -y -qq "python$version" "python$version-venv" && return 0
    done
    return 0
}

if ! python=$(find_python); then
    fetch_python >&2
    if ! python=$(find_python); then
        echo "headwright: wanted Python $wanted with its venv module, for which the wheels are;" \
            "got none, and apt-get could not install one;" \
            "try: an image that has it, or a pack with wheels for the Python that is there" >&2
        exit 1
    fi
fi

"$python" -m venv --clear "$environment"
"$environment/bin/python" -m pip --isolated install --quiet --no-index --no-deps \
    --find-links "$here/wheels" -r "$here/requirements.txt"
"$environment/bin/python" -I -c "import headwright.homework.judging_process"
echo "headwright: ready, $("$environment/bin/python" --version)"
