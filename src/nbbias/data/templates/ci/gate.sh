#!/bin/sh
# Gate every run in runs/ against its accepted twin, which somebody committed to accepted/, and
# write reports/. Exit 1: a declared claim got worse, or the gate was asked wrongly. Exit 3:
# inconclusive; with STRICT=false that is exit 0 and a warning.
status=3
said="no run to gate"
mkdir -p reports
for manifest in runs/*/*/manifest.json; do
  run=${manifest%/manifest.json}
  name=${run#runs/}
  case $name in *.failed | *'*'*) continue ;; esac
  if [ "$said" = "no run to gate" ]; then status=0 said=; fi
  found=0
  if [ -f "accepted/$name/manifest.json" ]; then
    report=reports/$(printf '%s' "$name" | tr '/' '-')
    nbbias gate "$run" --baseline "accepted/$name" \
      --junit "$report.xml" --markdown "$report.md" --force || found=$?
  else
    found=3
    echo "$name: no accepted run; look at $run, and commit it as accepted/$name"
  fi
  case $found in
    0) ;;
    3) said="$said $name" && [ "$status" = 1 ] || status=3 ;;
    *) status=1 ;;
  esac
done
if [ -n "$said" ]; then
  echo "inconclusive:$said"
  if [ -n "$GITHUB_ACTIONS" ]; then echo "::warning title=inconclusive::$said"; fi
fi
if [ "$status" = 3 ] && [ "$STRICT" = false ]; then status=0; fi
exit $status
