// The highest version that a range allows.

const read = (text) => text.split(".");

// As texts, which is the same while each number has one digit.
const order = (a, b) => (a.join(".") < b.join(".") ? -1 : a.join(".") > b.join(".") ? 1 : 0);

// The first version beyond what a caret allows.
function ceiling([major, minor, patch]) {
  if (major > 0) return [Number(major) + 1, 0, 0];
  if (minor > 0) return [0, Number(minor) + 1, 0];
  return [0, 0, Number(patch) + 1];
}

function holds(condition, version) {
  if (condition === "*") return true;
  if (condition.endsWith("x")) {
    const head = condition.split(".").slice(0, -1);
    return head.every((number, at) => version[at] === number);
  }
  const [, sign, text] = /^(>=|<=|>|<|~|\^)?(.*)$/.exec(condition);
  const bound = read(text);
  const found = order(version, bound);
  switch (sign) {
    case ">": return found > 0;
    case ">=": return found >= 0;
    case "<": return found < 0;
    case "<=": return found <= 0;
    case "~": return found >= 0 && order(version, [bound[0], Number(bound[1]) + 1, 0]) < 0;
    case "^": return found >= 0 && order(version, ceiling(bound)) < 0;
    default: return found === 0;
  }
}

function allows(range, version) {
  return range.split("||").some((part) => part.trim().split(/\s+/).every((condition) => holds(condition, version)));
}

export function newest(versions, range) {
  let best = null;
  for (const text of versions) {
    const version = read(text);
    if (allows(range, version) && (best === null || order(version, read(best)) > 0)) best = text;
  }
  return best ?? "none";
}
