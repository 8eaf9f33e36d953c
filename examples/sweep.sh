#!/bin/sh
# Trains with several learning rates, one after the other, and names the best. An argument is the seconds each run takes.
set -eu
seconds=${1:-3}
best=
for rate in 0.05 0.2 0.8; do
  echo "== rate $rate"
  line=$(python3 train.py --epochs 5 --seconds "$seconds" --rate "$rate" | tail -n 1)
  echo "$line"
  loss=${line##* }
  if [ -z "$best" ] || [ "$(printf '%s\n%s\n' "$loss" "$best" | sort -n | head -n 1)" = "$loss" ]; then
    best=$loss
    best_rate=$rate
  fi
done
echo "best: rate $best_rate with loss $best"
