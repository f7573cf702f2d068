import sys

SCALES = {"C", "F", "K"}
LOWEST, HIGHEST = -6000, 6000


def hundredths(text):
    """Reads `12`, `-3.5`, `+0,25` into hundredths, exactly; None if it is no number or has more than two decimals."""
    sign = -1 if text.startswith("-") else 1
    digits = text[1:] if text[:1] in "+-" and text else text
    whole, point, part = digits.replace(",", ".").partition(".")
    if not whole.isascii() or not whole.isdigit() or (point and not (part.isascii() and part.isdigit())) or len(part) > 2:
        return None
    return sign * (int(whole) * 100 + int(part.ljust(2, "0") or 0))


def half_away(number, divisor):
    """Divides and rounds to the nearest whole number, halves away from zero."""
    quotient = (2 * abs(number) + divisor) // (2 * divisor)
    return quotient if number >= 0 else -quotient


def celsius(value, scale):
    """Turns hundredths of a scale into tenths of a degree Celsius, rounded once."""
    if scale == "F":
        return half_away((value - 3200) * 5, 90)
    return half_away(value - 27315 if scale == "K" else value, 10)


def main():
    kept, dropped, replaced = {}, 0, 0
    for line in sys.stdin.read().splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(";")]
        value = hundredths(parts[1]) if len(parts) == 3 else None
        tenths = celsius(value, parts[2]) if value is not None and parts[2] in SCALES else None
        if tenths is None or not LOWEST <= tenths * 10 <= HIGHEST or not parts[0]:
            dropped += 1
            continue
        replaced += parts[0] in kept
        kept.setdefault(parts[0], tenths)  # wrong: the first one stays
    for moment in sorted(kept):
        tenths = kept[moment]
        sign = "-" if tenths < 0 else ""
        print(f"{moment} {sign}{abs(tenths) // 10}.{abs(tenths) % 10}")
    print(f"kept {len(kept)} dropped {dropped} replaced {replaced}")


main()
