#!/bin/bash
# The same script, and all that it starts runs under the tool as well.
#@ follow: yes
#@ run all: bash {file}
set -u
total=0
for i in {1..20}; do
    total=$((total + $( (echo "$i"; exit 3) | tr -d ' ')))
done
echo "total $total"
seq 1 2000 | grep 7 | sort -rn | head -5 | while read -r n; do echo "n=$n"; done
(cd / && pwd; (exit 7); echo "inner $?")
declare -A map=([one]=1 [two]=2 [three]=3)
for key in one two three; do echo "$key ${map[$key]}"; done
cat <<END | sed 's/x/y/g'
here x document $((6 * 7))
END
diff <(seq 1 5) <(seq 2 6)
echo "diff $?"
trap 'echo "got USR1"' USR1
kill -USR1 $$
sleep 0.05 &
wait $!
echo "waited $?"
(kill -TERM $BASHPID; sleep 5) 2>/dev/null
echo "killed $?"
coproc cat
echo "through the coprocess" >&"${COPROC[1]}"
read -r answer <&"${COPROC[0]}"
echo "$answer"
exec {COPROC[1]}>&-
wait
f() { local x=$1; ((x > 0)) && f $((x - 1)); echo -n "$x "; }
f 30
echo
printf '%s\n' {a..e}{1..3} | paste -sd,
[[ "2024-05-06" =~ ([0-9]+)-([0-9]+) ]] && echo "${BASH_REMATCH[2]}"
for i in $(seq 1 40); do /bin/true & done
wait
trap 'echo bye' EXIT
echo out; echo err >&2
