/** One setting: how to read it, and what the docs say about it. A test compares `docs/configuration.md` with `SETTINGS`. */
export interface Setting<T> {
  name: string
  /** As shown in the docs. */
  defaultText: string
  meaning: string
  /** Can also be set as `NAME_FILE`, the path of a file that holds the value. */
  secret: boolean
  /** Returns the value of a text (`undefined` when unset). @throws Error that says what is allowed */
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
