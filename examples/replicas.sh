#!/bin/sh
# One task of several: each counts the primes in its own share of the numbers below the limit.
set -eu
limit=${1:-20000}
# /user/job/2 for a first attempt, /user/job/2:1 for a retry: the number is what is between.
task=${IRIS_TASK_ID:-0}
task=${task##*/}
task=${task%%:*}
tasks=${IRIS_NUM_TASKS:-1}
echo "task $task of $tasks"
awk -v limit="$limit" -v task="$task" -v tasks="$tasks" 'BEGIN {
  first = int(limit * task / tasks)
  last = int(limit * (task + 1) / tasks)
  for (number = (first < 2 ? 2 : first); number < last; number++) {
    prime = 1
    for (divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor == 0) { prime = 0; break }
    found += prime
  }
  print "primes from " first " to " last - 1 ": " found + 0
}'
