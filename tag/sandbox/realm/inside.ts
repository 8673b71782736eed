/** A value of the sandbox as the code outside sees it: anything, looked at before use. */
export type Inner = unknown

/** A function that crosses the border. Arguments and result belong to the sandbox. */
export type InnerFunction = (...args: Inner[]) => Inner

/** What the host keeps of the inside of a context. */
export interface Inside {
  /** A deep copy made of the sandbox's own objects. Functions stay what they are; a cycle stays one. */
  readonly copy: (value: unknown) => Inner
  /** A function of the sandbox that calls one of the host. */
  readonly wrap: (host: InnerFunction) => InnerFunction
  /** An object of the sandbox with exactly these members, which are not copied. */
  readonly object: (members: Readonly<Record<PropertyKey, unknown>>) => Inner
  readonly parse: (text: string) => Inner
  readonly stringify: (value: Inner) => string | undefined
}

/**
 * Runs INSIDE the new context, from its source text: it may use its parameter and the context's own globals, nothing of
 * this module. It keeps the built-ins that it needs, then takes away all that sandboxed JavaScript does not have, so
 * that a template that uses more fails here as it fails in a container.
 */
export function furnish(methods: Readonly<Record<string, readonly string[]>>): Inside {
  const { isArray } = Array
  const { keys } = Object
  const { parse, stringify } = JSON
  const Known = Map<object, Record<string, unknown>>

  const copyOf = (value: unknown, known: Map<object, Record<string, unknown>>): unknown => {
    if (typeof value !== 'object' || value === null) return value
    const copied = known.get(value)
    if (copied !== undefined) return copied
    const source = value as Record<string, unknown>
    const target = (isArray(value) ? [] : {}) as Record<string, unknown>
    known.set(value, target)
    for (const name of keys(source)) target[name] = copyOf(source[name], known)
    return target
  }

  const prototypes: Record<string, object> = {
    Array: Array.prototype,
    String: String.prototype,
    Object: Object.prototype,
    Boolean: Boolean.prototype,
    Number: Number.prototype,
    Function: Function.prototype,
  }
  const remove = Reflect.deleteProperty
  for (const type of keys(prototypes)) {
    const prototype = prototypes[type] as object
    for (const name of Object.getOwnPropertyNames(prototype)) {
      // The engine itself needs the length of arrays and strings. `methods` is an object of the host and keeps its own.
      if (name !== 'length' && methods[type]?.includes(name) !== true) remove(prototype, name)
    }
  }
  // Named now: it goes with the other globals.
  const global = globalThis
  for (const name of Object.getOwnPropertyNames(global)) remove(global, name)

  return {
    copy: (value) => copyOf(value, new Known()),
    wrap:
      (host) =>
      (...args) =>
        host(...args),
    object: (members) => ({ ...members }),
    parse: (text) => parse(text),
    stringify: (value) => stringify(value),
  }
}
