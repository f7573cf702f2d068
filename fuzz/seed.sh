#!/usr/bin/env bash
# Fills the corpus of every fuzz target from the scorecards and examples of this repository and from fuzz/seeds:
# fuzz/seed.sh [FOLDER]
# FOLDER is fuzz/corpus if none is given; what is already in it stays.
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
corpus=${1:-$repository/fuzz/corpus}
targets=(scorecard evidence source graders cache reports)
for target in "${targets[@]}"; do
    mkdir -p "$corpus/$target"
done
cd "$repository"

# One flat file name for each path, so that a seed says where it came from.
while IFS= read -r -d '' card; do
    cp "$card" "$corpus/scorecard/${card//\//_}"
done < <(find scorecards examples crates/core/tests/cards -type f -name '*.toml' -print0)

# Both targets choose by the first byte: the kind of evidence of five, the layout of three. Five consecutive digits are every
# choice at least once; evidence of another kind is a seed, too. A source takes a file, evidence one item of it.
while IFS= read -r -d '' file; do
    name=${file//\//_}
    for choice in {0..4}; do
        { printf '%s' "$choice"; cat "$file"; } > "$corpus/source/$choice-$name"
        if [[ $file == *.jsonl ]]; then
            number=0
            while IFS= read -r item; do
                number=$((number + 1))
                printf '%s%s' "$choice" "$item" > "$corpus/evidence/$choice-$number-$name"
            done < "$file"
        else
            cp "$corpus/source/$choice-$name" "$corpus/evidence/"
        fi
    done
done < <(find examples -type f \( -name '*.json' -o -name '*.jsonl' \) -print0)
printf '2%s' $'subject,minutes,reviewed\r\n"a, b",1.5,true\r\nc,,FALSE\n' > "$corpus/source/table.csv"

cp fuzz/seeds/graders/*.json "$corpus/graders/"
cp fuzz/seeds/reports/* "$corpus/reports/"

# The first byte says whether the digest is left as it is or made right.
for file in fuzz/seeds/cache/*.cache examples/raw/*.cache; do
    for choice in 0 1; do
        { printf '%s' "$choice"; cat "$file"; } > "$corpus/cache/$choice-${file//\//_}"
    done
done

for target in "${targets[@]}"; do
    seeds=$(find "$corpus/$target" -type f | wc -l)
    echo "$target: $seeds seeds"
    if ((seeds == 0)); then
        echo "fuzz/seed.sh: nothing to start the target \`$target\` from" >&2
        exit 1
    fi
done
