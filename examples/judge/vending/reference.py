COINS = (10, 20, 50, 100, 200)


def start(stock):
    """The state of a machine with this stock: `{SLOT: [PRICE, COUNT]}`."""
    return {"mode": "idle", "credit": 0, "taken": 0, "stock": {slot: list(item) for slot, item in stock.items()}}


def step(state, event):
    """The next state and what comes out of the machine."""
    kind, value = event[0], event[1] if len(event) > 1 else None
    state = {**state, "stock": {slot: list(item) for slot, item in state["stock"].items()}}
    if state["mode"] == "service":
        return serve(state, kind, value)
    if kind == "coin":
        if value not in COINS:
            return [state, ["return", value]]
        state["credit"] += value
        state["mode"] = "paid"
        return [state, ["credit", state["credit"]]]
    if kind == "select":
        price, count = state["stock"].get(value, [0, 0])
        if count == 0:
            return [state, ["sold out", value]]
        if state["credit"] < price:
            return [state, ["missing", price - state["credit"]]]
        change = state["credit"] - price
        state["stock"][value][1] -= 1
        state["taken"] += price
        state["credit"] = 0
        state["mode"] = "idle"
        return [state, ["item", value, change]]
    if kind == "cancel":
        credit = state["credit"]
        state["credit"] = 0
        state["mode"] = "idle"
        return [state, ["return", credit] if credit else ["nothing"]]
    if kind == "open":
        # A machine with money of a customer in it stays shut.
        if state["mode"] == "paid":
            return [state, ["refused"]]
        state["mode"] = "service"
        return [state, ["opened"]]
    return [state, ["unknown", kind]]


def serve(state, kind, value):
    if kind == "fill":
        slot, count = value
        if slot not in state["stock"]:
            return [state, ["unknown", slot]]
        state["stock"][slot][1] += count
        return [state, ["filled", state["stock"][slot][1]]]
    if kind == "empty":
        taken = state["taken"]
        state["taken"] = 0
        return [state, ["taken", taken]]
    if kind == "close":
        state["mode"] = "idle"
        return [state, ["closed"]]
    if kind == "coin":
        return [state, ["return", value]]
    return [state, ["refused"]]


def run(stock, events):
    """What comes out of a machine, event by event."""
    state, out = start(stock), []
    for event in events:
        state, result = step(state, event)
        out.append(result)
    return out
