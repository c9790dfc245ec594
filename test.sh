#!/usr/bin/env bash
# Sets up what the tests need and runs them all. SPIN is the peer the semantics is compared with; tcc compiles its
# verifiers quickly.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
for tool in spin tcc gcc; do
    command -v "$tool" >/dev/null || missing+=("$tool")
done
# The shell has a `time` of its own; the bench needs the program.
[ -x /usr/bin/time ] || missing+=(time)
if [ ${#missing[@]} -gt 0 ]; then
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" apt-get install -y -qq "${missing[@]}"
fi

cargo fmt --all --check
cargo clippy --workspace --all-targets -- -D warnings
# Many tests are one thread's work, so the command's tests run beside all others.
cargo test --workspace --no-run
others=$(mktemp)
trap 'rm -f "$others"' EXIT
cargo test --workspace --exclude spinor >"$others" 2>&1 &
cargo test -p spinor && own=0 || own=$?
wait $! && rest=0 || rest=$?
cat "$others"
if [ "$own" -ne 0 ] || [ "$rest" -ne 0 ]; then
    exit 1
fi
# All schedules of two threads that put into the store.
RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom" cargo test -p spinor-store --release --lib loom
