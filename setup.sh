#!/bin/sh
# Installs on Debian what building needs besides Rust and a C compiler: m4 and make, with which GMP and MPFR are built
# from source, and a C++ compiler for the bundled example; or, as `setup.sh PACKAGE…`, these packages. Without root it
# only says what is missing.
set -eu

missing=$*
if [ $# -eq 0 ]; then
    for program in m4 make g++; do
        command -v "$program" > /dev/null || missing="$missing $program"
    done
fi

[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
    echo "not installed: $missing" >&2
    echo "run this as root, or: apt-get install --no-install-recommends $missing" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# One by one if need be: a package that this release does not have must not keep the others out.
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing || for package in $missing; do
    apt-get install -y -qq --no-install-recommends "$package" || {
        echo "cannot install $package" >&2
        # Without these there is no building.
        [ $# -gt 0 ] || exit 1
    }
done
