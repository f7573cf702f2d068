#!/usr/bin/env bash
# Fills the corpus of every fuzz target from the scorecards and examples of this repository: fuzz/seed.sh [FOLDER]
# FOLDER is fuzz/corpus if none is given; what is already in it stays.
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
corpus=${1:-$repository/fuzz/corpus}
mkdir -p "$corpus/scorecard" "$corpus/evidence"
cd "$repository"

# One flat file name for each path, so that a seed says where it came from.
while IFS= read -r -d '' card; do
    cp "$card" "$corpus/scorecard/${card//\//_}"
done < <(find scorecards examples -type f -name '*.toml' -print0)

# The target takes the kind of evidence from the first byte, modulo the number of kinds. Eight consecutive bytes are every
# kind at least once, and evidence read as the wrong kind is worth a seed too.
while IFS= read -r -d '' item; do
    for choice in {0..7}; do
        { printf '%s' "$choice"; cat "$item"; } > "$corpus/evidence/$choice-${item//\//_}"
    done
done < <(find examples -type f -size -64k ! -name '*.md' ! -name '*.toml' -print0)

for target in scorecard evidence; do
    seeds=$(find "$corpus/$target" -type f | wc -l)
    echo "$target: $seeds seeds"
    if ((seeds == 0)); then
        echo "fuzz/seed.sh: nothing to start the target \`$target\` from" >&2
        exit 1
    fi
done
