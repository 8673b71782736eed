/** One setting: how to read it, and what the docs say about it. A test compares `docs/configuration.md` with `SETTINGS`. */
export interface Setting<T> {
  name: string
  /** As shown in the docs. */
  defaultText: string
  meaning: string
  /** Can also be set as `NAME_FILE`, the path of a file that holds the value. */
  secret: boolean
  /** Turns the text (or `undefined` when unset) into the value, or throws an Error that goes after the name: "must be …". */
  parse: (text: string | undefined) => T
}

export function setting<T>(
  name: string,
  defaultText: string,
  meaning: string,
  read: (text: string | undefined) => T,
  secret = false,
): Setting<T> {
  return { name, defaultText, meaning, secret, parse: read }
}
