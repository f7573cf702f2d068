# Rounds with `round`, which rounds halves to even, and computes with doubles, which have no 0.15.
import sys

kept, dropped, replaced = {}, 0, 0
for line in sys.stdin:
    line = line.strip()
    if not line or line.startswith("#"):
        continue
    try:
        moment, value, scale = (part.strip() for part in line.split(";"))
        value = float(value.replace(",", "."))
        value = {"C": value, "F": (value - 32) / 1.8, "K": value - 273.15}[scale]
    except (KeyError, ValueError):
        dropped += 1
        continue
    if not moment or not -60 <= value <= 60:
        dropped += 1
        continue
    replaced += moment in kept
    kept[moment] = round(value, 1)
for moment in sorted(kept):
    print(moment, kept[moment])
print(f"kept {len(kept)} dropped {dropped} replaced {replaced}")
