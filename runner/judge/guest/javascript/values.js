// What crosses between the tests of a hidden suite and the submission, for both sides: values that have a form in JSON.

(native) => {
  "use strict";
  // Returns the form of a value, or nothing if it has none; `inner` is for the items of what is of a `kind`.
  const packed = (value, kind, inner) => {
    switch (typeof value) {
      case "string":
      case "boolean":
        return { value };
      case "number":
        return Number.isFinite(value) && !Object.is(value, -0) ? { value } : { number: Object.is(value, -0) ? "-0" : String(value) };
      case "bigint":
        return { bigint: String(value) };
      case "undefined":
        return { undefined: 0 };
    }
    if (value === null) return { value };
    switch (kind) {
      case "array": return { array: Array.from(value, inner) };
      case "map": return { map: Array.from(value, ([key, item]) => [inner(key), inner(item)]) };
      case "set": return { set: Array.from(value, inner) };
      case "date": return { date: Number(value) };
      case "bytes": return { bytes: Array.from(value) };
    }
    return undefined;
  };

  // Sets members as they are, whatever their names.
  const set = (object, members, value_of) => {
    for (const [name, item] of members)
      Object.defineProperty(object, String(name), { value: value_of(item), writable: true, enumerable: true, configurable: true });
    return object;
  };

  // Returns the value of a form; `other` is for the forms of what stays where it is.
  const unpacked = (packed, other) => {
    const kind = Object.keys(packed)[0];
    const content = packed[kind];
    const inner = (item) => unpacked(item, other);
    switch (kind) {
      case "value": return content;
      case "number": return Number(content);
      case "bigint": return BigInt(content);
      case "undefined": return undefined;
      case "array": return content.map(inner);
      case "map": return new Map(content.map(([key, item]) => [inner(key), inner(item)]));
      case "set": return new Set(content.map(inner));
      case "date": return new Date(content);
      case "bytes": return new Uint8Array(content);
      case "members": return set({}, content, inner);
      default: return other(kind, content, packed);
    }
  };
  return { packed, set, unpacked };
};
