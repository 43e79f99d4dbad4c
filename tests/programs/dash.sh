#!/bin/sh
# The system shell: loops, functions, pipelines, traps, files.
#@ run sh: sh {file}
count() { n=0; while read -r _; do n=$((n + 1)); done; echo "$n"; }
i=0
while [ $i -lt 300 ]; do echo "line $i"; i=$((i + 1)); done > lines.txt
count < lines.txt
cut -d' ' -f2 lines.txt | sort -n | tail -3
for f in a b c; do echo "$f" > "$f.out"; done
ls -1 *.out | wc -l
trap 'echo trapped; exit 0' TERM
kill -TERM $$
