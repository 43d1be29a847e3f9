#!/bin/bash
# What a 7 B model costs on this machine's GPU, in at most eight minutes: perf/gpu.sh STEPS FOLDER [FLAG]...
#
# Needs torch, transformers and accelerate; no network, browser or weights. What else the machine
# lacks (peft, pydantic, beautifulsoup4) lies as wheels in the folder WHEELS, if it is named. STEPS is
# written beforehand by `python perf/gpu.py write RUN MODEL-FOLDER STEPS`.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -n "${WHEELS:-}" ]; then
  python3 -m pip install --quiet --no-index --no-deps --no-compile --no-cache-dir --upgrade \
    --target "${TMPDIR:-/tmp}/gpu-wheels" "$WHEELS"/*.whl
fi
export PYTHONPATH="$PWD:${TMPDIR:-/tmp}/gpu-wheels:${PYTHONPATH:-}" PYTHONUNBUFFERED=1
export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
exec python3 perf/gpu.py measure "$@"
