#!/usr/bin/env bash
# What action.yml and gitlab.yml run: measure $STUDY into $OUT, judge it, and leave the
# answer there as gate.xml (JUnit), gate.md (a comment) and gate.json. $AGAINST, $WHERE, $REMEASURE: as of `pentathlon gate`. $INCONCLUSIVE: "pass" or "fail".
# $FORMAT: of what is printed. Ends with the status of the gate, but for an inconclusive one that is to pass.
set -euo pipefail
run=${PENTATHLON:-pentathlon}
out=${OUT:-results/gate}
words=("$out" --by-delta)
[ -z "${AGAINST:-}" ] || words+=(--against "$AGAINST")
[ -z "${WHERE:-}" ] || words+=(--where "$WHERE")
[ -z "${REMEASURE:-}" ] || words+=(--remeasure "$REMEASURE" --yes)

$run run "$STUDY" --yes --no-pilot --out "$out" || measured=$?
# A run in which something failed is judged too: the gate names what failed.
[ "${measured:-0}" -le 1 ] || exit "$measured"

status=0
$run gate "${words[@]}" --format "${FORMAT:-terminal}" --out "$out" || status=$?
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    echo "status=$status" >>"$GITHUB_OUTPUT"
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$out/gate.md" ]; then
    cat "$out/gate.md" >>"$GITHUB_STEP_SUMMARY"
fi
if [ "$status" = 5 ] && [ "${INCONCLUSIVE:-pass}" = pass ]; then
    exit 0
fi
exit "$status"
