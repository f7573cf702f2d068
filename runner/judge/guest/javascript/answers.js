// The side of the submission in a hidden suite: what it answers to the questions of the tests.
//
// What crosses is JSON. What has no JSON form stays where it is, and the tests hold it by a number.

(native, opened) => {
  "use strict";
  const values = native.values()(native);
  const objects = [];
  const kept = (value) => objects.push(value) - 1;
  const pack = (value, depth = 0) => {
    const inner = (item) => pack(item, depth + 1);
    const is_one = (typeof value === "object" && value !== null) || typeof value === "function";
    const kind = is_one && depth < 50 ? native.kind(value) : "";
    const packed = values.packed(value, kind, inner);
    if (packed !== undefined) return packed;
    if (typeof value === "symbol") return { object: kept(value), sort: "symbol" };
    if (kind === "object") {
      const members = Object.entries(Object.getOwnPropertyDescriptors(value));
      // What computes when it is looked at, stays.
      if (members.every(([, it]) => "value" in it && typeof it.value !== "function" && it.enumerable))
        return { members: members.map(([name, it]) => [name, inner(it.value)]) };
    }
    if (kind === "promise" && native.state(value) > 0)
      return native.state(value) === 1 ? { resolved: inner(native.result(value)) } : { rejected: raised_as(native.result(value)) };
    if (kind === "promise") return { waiting: 0 };
    if (native.error(value)) return { error: raised_as(value), object: kept(value) };
    if (typeof value === "function" && native.error(value.prototype))
      return { exception: kinds(value.prototype), object: kept(value) };
    return { object: kept(value), sort: typeof value };
  };
  const kinds = (proto) => {
    const names = [];
    for (let at = proto; at && names.length < 20; at = Object.getPrototypeOf(at)) {
      const name = Object.hasOwn(at, "constructor") ? String(at.constructor?.name) : "";
      if (name) names.push(name);
      if (native.error(at) === name) break;
    }
    return names;
  };
  const raised_as = (error) => {
    const known = native.error(error);
    if (!known) return { thrown: pack(error) };
    let words = "";
    let names = [known];
    let members = [];
    try {
      words = String(error.message).slice(0, 500);
      names = kinds(Object.getPrototypeOf(error));
      members = Object.keys(error).slice(0, 20).map((name) => [name, pack(error[name], 49)]);
    } catch {}
    return { kinds: names, known, words, members };
  };
  const unpack = (packed) => values.unpacked(packed, (_, number) => objects[number]);
  const exported = (file, name) => {
    const { exports, is_module } = opened[file];
    if (exports !== null && (typeof exports === "object" || typeof exports === "function") && name in exports) return exports[name];
    if (name === "default") return exports;
    if (!is_module && /^[A-Za-z_$][\w$]*$/.test(name))
      return native.script("karat:name", `typeof ${name} === "undefined" ? undefined : ${name}`);
    return undefined;
  };
  return {
    asked(text) {
      const { does, file, name, object, args } = JSON.parse(text);
      const target = file === undefined ? objects[object] : exported(file, name);
      const given = () => args.map(unpack);
      switch (does) {
        case "export": return target;
        case "get": return target[unpack(name)];
        case "set": target[unpack(name)] = unpack(args[0]); return true;
        case "call": return Reflect.apply(target, unpack(args[0]), given().slice(1));
        case "new": return Reflect.construct(target, given());
        case "instance": return unpack(args[0]) instanceof target;
        case "text": return `${target}`;
        case "iterate": return { iterator: target[Symbol.iterator]() }.iterator;
        default: {
          const step = target.next();
          return { done: !!step.done, value: step.value };
        }
      }
    },
    answer(value, wait) {
      if (native.kind(value) === "promise") wait(value);
      return "=" + JSON.stringify(pack(value));
    },
    raised: (error) => "!" + JSON.stringify(raised_as(error)),
  };
};
