#!/bin/sh
# Gate every run in runs/ against its accepted twin in accepted/, and write reports/.
# Exit 1 when a declared claim got worse, or when the gate was asked wrongly; too few units to tell
# (3) warns. With ACCEPT=yes, as on the default branch, a run that has no twin yet, or that is shown
# to be not worse, becomes the accepted one.
status=0
mkdir -p reports
for manifest in runs/*/*/manifest.json; do
  run=${manifest%/manifest.json}
  name=${run#runs/}
  case $name in *.failed | *'*'*) continue ;; esac
  if [ -f "accepted/$name/manifest.json" ]; then
    report=reports/$(printf '%s' "$name" | tr '/' '-')
    found=0
    nbbias gate "$run" --baseline "accepted/$name" \
      --junit "$report.xml" --markdown "$report.md" || found=$?
  else
    echo "$name: no accepted run yet"
    found=0
  fi
  case $found in
    0)
      if [ "$ACCEPT" = yes ]; then
        rm -rf "accepted/$name"
        mkdir -p "accepted/${name%/*}"
        cp -R "$run" "accepted/$name"
        echo "$name: accepted"
      fi
      ;;
    3) echo "::warning::$name: too few units to tell; nothing was accepted" ;;
    *) status=1 ;;
  esac
done
exit $status
