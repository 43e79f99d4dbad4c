#!/bin/sh
# Installs on Debian what building needs besides Rust and a C compiler: m4 and make, with which GMP and MPFR are built
# from source, and a C++ compiler for the bundled example. Without root it only says what is missing.
set -eu

missing=
command -v m4 > /dev/null || missing="$missing m4"
command -v make > /dev/null || missing="$missing make"
command -v g++ > /dev/null || missing="$missing g++"

[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
    echo "not installed:$missing" >&2
    echo "run this as root, or: apt-get install --no-install-recommends$missing" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing
