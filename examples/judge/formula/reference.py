class Stop(Exception):
    def __init__(self, at):
        self.at = at


def tokens(text):
    found, at = [], 0
    while at < len(text):
        sign, start = text[at], at
        if sign == " ":
            at += 1
            continue
        if sign in "0123456789":
            while at < len(text) and text[at] in "0123456789":
                at += 1
            found.append(("number", int(text[start:at]), start))
        elif "a" <= sign <= "z":
            while at < len(text) and "a" <= text[at] <= "z":
                at += 1
            found.append(("name", text[start:at], start))
        elif sign in "+-*/^()":
            at += 1
            found.append((sign, sign, start))
        else:
            # What stands before it is read first, so that the leftmost fault counts.
            found.append(("?", sign, start))
            return found
    found.append(("end", "", len(text)))
    return found


class Reader:
    def __init__(self, text, names):
        self.tokens = tokens(text)
        self.names = names
        self.at = 0

    def take(self, kinds):
        if self.tokens[self.at][0] in kinds:
            self.at += 1
            return self.tokens[self.at - 1]
        return None

    def fail(self):
        raise Stop(self.tokens[self.at][2])

    def sum(self):
        value = self.product()
        while sign := self.take("+-"):
            other = self.product()
            value = value + other if sign[0] == "+" else value - other
        return value

    def product(self):
        value = self.signed()
        while sign := self.take("*/"):
            other = self.signed()
            if sign[0] == "*":
                value *= other
            elif other == 0:
                raise Stop(sign[2])
            else:
                quotient = abs(value) // abs(other)
                value = quotient if (value < 0) == (other < 0) else -quotient
        return value

    def signed(self):
        negative = False
        while self.take("-"):
            negative = not negative
        value = self.power()
        return -value if negative else value

    def power(self):
        value = self.atom()
        if sign := self.take("^"):
            # Right to left, and the exponent may have a sign.
            exponent = self.signed()
            if exponent < 0 or exponent > 64:
                raise Stop(sign[2])
            value **= exponent
        return value

    def atom(self):
        if number := self.take(("number",)):
            return number[1]
        if name := self.take(("name",)):
            if name[1] not in self.names:
                raise Stop(name[2])
            return self.names[name[1]]
        if self.take("("):
            value = self.sum()
            if not self.take(")"):
                self.fail()
            return value
        return self.fail()


def evaluate(text, names):
    reader = Reader(text, names)
    try:
        value = reader.sum()
        if not reader.take(("end",)):
            reader.fail()
    except Stop as stop:
        return {"error": stop.at}
    return {"value": value}
