#!/usr/bin/env bash
# Fills the corpus of every fuzz target from the scorecards and examples of this repository and from fuzz/seeds:
# fuzz/seed.sh [FOLDER]
# FOLDER is fuzz/corpus if none is given; what is already in it stays.
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
corpus=${1:-$repository/fuzz/corpus}
targets=(scorecard evidence source graders cache reports import request)
for target in "${targets[@]}"; do
    mkdir -p "$corpus/$target"
done
cd "$repository"

# One flat file name for each path, so that a seed says where it came from.
while IFS= read -r -d '' card; do
    cp "$card" "$corpus/scorecard/${card//\//_}"
done < <(find scorecards examples crates/checker/tests/cards crates/cli/src/cmd/card/starter -type f -name '*.toml' -print0)

# Both targets choose by the first byte: one of six kinds of evidence, one of three layouts. Six consecutive digits are every
# choice at least once; evidence of another kind is a seed, too. A source takes a file, evidence one item of it.
while IFS= read -r -d '' file; do
    name=${file//\//_}
    for choice in {0..5}; do
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
# Evidence of kind `facts` with the names that its target asks for: the digit 5 is the sixth kind.
printf '5%s' '{"subject": "a", "tests_passed": 3, "minutes": 1.5, "reviewed": true, "language": "rust"}' \
    > "$corpus/evidence/facts.json"
printf '2%s' $'subject,minutes,reviewed\r\n"a, b",1.5,true\r\nc,,FALSE\n' > "$corpus/source/table.csv"

cp fuzz/seeds/graders/*.json "$corpus/graders/"
cp fuzz/seeds/reports/* "$corpus/reports/"

# The first byte chooses a format; the last choice is the format that is found.
for file in examples/import/*.xml examples/import/*.json examples/import/*.traj fuzz/seeds/import/*; do
    for choice in 12 92 30 33 37; do
        { printf "\\x$choice"; cat "$file"; } > "$corpus/import/$choice-${file//\//_}"
    done
done

# The first byte says whether the digest is left as it is or made right.
for file in fuzz/seeds/cache/*.cache examples/raw/*.cache; do
    for choice in 0 1; do
        { printf '%s' "$choice"; cat "$file"; } > "$corpus/cache/$choice-${file//\//_}"
    done
done

# Evidence that comes as a request, beside requests of every other sort.
cp fuzz/seeds/request/*.http "$corpus/request/"
number=0
while IFS= read -r line; do
    number=$((number + 1))
    printf '%s\naccept: text/html\n' "$line" > "$corpus/request/target-$number.http"
done < fuzz/seeds/request/targets.txt
while read -r card media file; do
    {
        printf 'POST /v1/evidence?card=%s\n' "$card"
        printf 'authorization: Bearer ADMIN\ncontent-type: application/%s\n\n' "$media"
        cat "$file"
    } > "$corpus/request/${file//\//_}.http"
done << 'END'
workflow@1.0.0 json examples/workflow/worked-example.json
workflow@1.0.0 x-ndjson examples/workflow/retries.jsonl
workflow@1.0.0 x-ndjson examples/raw/workflow.jsonl
trace@1.0.0 json examples/trace/finance-document.json
trace@1.0.0 x-ndjson examples/raw/traces.jsonl
trust@1.0.0 x-ndjson examples/trust/coverage.jsonl
log-forensics@1.0.0 json examples/arena/documented-823.json
lean-refactor@1.0.0 x-ndjson examples/arena/efficiency.jsonl
incident-review@1.0.0 json examples/raw/match.json
END

for target in "${targets[@]}"; do
    seeds=$(find "$corpus/$target" -type f | wc -l)
    echo "$target: $seeds seeds"
    if ((seeds == 0)); then
        echo "fuzz/seed.sh: nothing to start the target \`$target\` from" >&2
        exit 1
    fi
done
