/** One setting: how it is read, and what the docs say of it. `docs/configuration.md` is tested against the table of them. */
export interface Setting<T> {
  name: string
  /** As shown in the docs. */
  defaultText: string
  meaning: string
  /** May be given as `NAME_FILE`, a file that holds the value. */
  secret: boolean
  /** Turns the text (or `undefined` when unset) into the value, or throws an Error that says what is allowed. */
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
