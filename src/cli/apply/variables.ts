import { isObject } from '../../lib/index.ts'

/** Names of fields and indexes of entries, from the top of a file. */
export type Path = readonly (string | number)[]

interface Notes {
  /** Called when a variable was filled in; `written` is the text in the file. */
  replaced: (path: Path, written: string) => void
  failed: (path: Path, message: string) => void
}

/** `$${` means the two characters `${`, and `${NAME}` a variable; one that is not closed is an error. */
const TOKEN = /\$\$\{|\$\{([^}]*)\}?/g
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The value with each `${NAME}` in its texts replaced by that environment variable. No message shows a variable's value. */
export function withVariables(
  value: unknown,
  environment: Readonly<Record<string, string | undefined>>,
  notes: Notes,
  path: Path = [],
): unknown {
  if (typeof value === 'string') return filledIn(value, environment, notes, path)
  if (Array.isArray(value)) {
    return value.map((each, index) => withVariables(each, environment, notes, [...path, index]))
  }
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, withVariables(each, environment, notes, [...path, key])]),
  )
}

function filledIn(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
  notes: Notes,
  path: Path,
): string {
  let isReplaced = false
  const result = text.replace(TOKEN, (token, name: string | undefined) => {
    if (name === undefined) return `\${`
    if (!token.endsWith('}') || !NAME.test(name)) {
      notes.failed(path, `${token} is not a variable: write \${NAME}, or $\${ for the two characters`)
      return token
    }
    const held = environment[name]
    if (held === undefined || held === '') {
      notes.failed(path, `${name} is ${held === '' ? 'empty' : 'not set'} in the environment`)
      return token
    }
    isReplaced = true
    return held
  })
  if (isReplaced) notes.replaced(path, text)
  return result
}

/** The text with each `${` escaped, so that a file can hold it without naming a variable. */
export const withoutVariables = (text: string): string => text.replaceAll(`\${`, () => `$\${`)
