"""Only reads durations; the order of the units is checked by hand."""

UNITS = "hms"
FACTOR = {"h": 3600, "m": 60, "s": 1}


def seconds(text):
    total, digits, place = 0, "", -1
    for character in text:
        if character.isdigit():
            digits += character
        elif digits and UNITS.find(character) > place:
            place = UNITS.find(character)
            total += int(digits) * FACTOR[character]
            digits = ""
        else:
            raise ValueError(f"not a duration: {text!r}")
    if digits or not text:
        raise ValueError(f"not a duration: {text!r}")
    return total
