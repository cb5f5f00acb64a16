#!/bin/sh
# Gate every run in runs/ against the accepted run of its name, which somebody committed to
# accepted/, and against the first one that ever was, if it is kept in first/; write reports/.
# Exit 1: a declared claim got worse, or the gate was asked wrongly. Exit 3: inconclusive; with
# STRICT=false that is exit 0 and a warning.

# How many runs were compared with an accepted one: commits and weeks since, and repeated attempts.
look() {
  commits=$(git rev-list --count "$(git log -1 --format=%H -- "$1")..HEAD" 2>/dev/null || echo 0)
  since=$(git log -1 --format=%ct -- "$1" 2>/dev/null)
  now=$(date +%s)
  echo $((commits + (now - ${since:-$now}) / 604800 + ${GITHUB_RUN_ATTEMPT:-1}))
}

# Keep the worst result of a run: 1 before 3 before 0.
compare() {
  case $1 in
    0) ;;
    3)
      case "$said " in *" $name "*) ;; *) said="$said $name" ;; esac
      [ "$status" = 1 ] || status=3
      ;;
    *) status=1 ;;
  esac
}

status=3
said="no run to gate"
mkdir -p reports
for manifest in runs/*/*/manifest.json; do
  run=${manifest%/manifest.json}
  name=${run#runs/}
  case $name in *.failed | *'*'*) continue ;; esac
  if [ "$said" = "no run to gate" ]; then status=0 said=; fi
  if [ ! -f "accepted/$name/manifest.json" ]; then
    echo "$name: no accepted run; look at $run, and commit it as accepted/$name"
    compare 3
  fi
  for kind in accepted first; do
    baseline=$kind/$name
    if [ ! -f "$baseline/manifest.json" ]; then continue; fi
    report=reports/$(printf '%s' "$baseline" | tr '/' '-')
    found=0
    nbbias gate "$run" --baseline "$baseline" --look "$(look "$baseline/manifest.json")" \
      --junit "$report.xml" --markdown "$report.md" --force || found=$?
    compare "$found"
  done
done
if [ -n "$said" ]; then
  echo "inconclusive:$said"
  if [ -n "$GITHUB_ACTIONS" ]; then echo "::warning title=inconclusive::$said"; fi
fi
if [ "$status" = 3 ] && [ "$STRICT" = false ]; then status=0; fi
exit $status
