#!/bin/sh
# Whether the processor has what shadows in upper vector registers need.
for feature in avx512f avx512vl avx512dq avx512bw; do
    grep -qw "$feature" /proc/cpuinfo || exit 1
done
