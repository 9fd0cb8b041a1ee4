#!/bin/sh
# PrairieLearn runs this for every hand-in. What is there before the checker starts says that
# nothing was graded: whatever happens to the checker, no answer shows as passed.
root=${HEADWRIGHT_ROOT:-/grade}
pack=$root/tests
environment=${HEADWRIGHT_ENVIRONMENT:-$root/environment}
mkdir -p "$root/results"
cp "$pack/not_graded.json" "$root/results/results.json"
# An image made with the Dockerfile has the environment already
if [ ! -x "$environment/bin/python" ]; then
    "$pack/setup.sh" "$environment" >&2
fi
timeout -k 2 28 "$environment/bin/python" -I -m headwright.course.packs.grader \
    prairielearn "$root"
exit 0
