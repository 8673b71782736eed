import type { Inner, Inside } from '../realm/index.ts'

/** The APIs that encode, decode and take texts apart. None throws: what cannot be decoded is undefined (T). */
export const encodeUri = (text: Inner): string | undefined => orUndefined(() => encodeURI(String(text)))

export const encodeUriComponent = (text: Inner): string | undefined =>
  orUndefined(() => encodeURIComponent(String(text)))

export const decodeUri = (text: Inner): string | undefined => orUndefined(() => decodeURI(String(text)))

export const decodeUriComponent = (text: Inner): string | undefined =>
  orUndefined(() => decodeURIComponent(String(text)))

export function toBase64(text: Inner, options: Inner): string {
  const isForUrls =
    typeof options === 'object' && options !== null && 'urlEncoding' in options && options.urlEncoding === true
  return Buffer.from(String(text)).toString(isForUrls ? 'base64url' : 'base64')
}

/** Reads both alphabets, as `toBase64` writes both. */
export function fromBase64(text: Inner): string | undefined {
  const base64 = String(text)
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(base64) ? Buffer.from(base64, 'base64').toString() : undefined
}

/** The parts of an address; undefined if it is none. A parameter that comes several times is a list (T). */
export function parseUrl(text: Inner): Record<string, Inner> | undefined {
  if (typeof text !== 'string' || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash } = url
  const searchParams: Record<string, string | string[]> = {}
  for (const name of new Set(url.searchParams.keys())) {
    const values = url.searchParams.getAll(name)
    searchParams[name] = values.length === 1 ? (values[0] ?? '') : values
  }
  return { href, origin, protocol, username, password, host, hostname, port, pathname, search, searchParams, hash }
}

/** Patterns by the objects that stand for them: those hold nothing that a template could read. */
const patterns = new WeakMap<object, RegExp>()

/** `createRegex(pattern, flags?)`: an object for `testRegex`, `match`, `replace` and `search`; null if it is no pattern (T). */
export function createRegex(inside: Inside, pattern: Inner, flags: Inner): Inner {
  const known = [...new Set(flags === undefined ? '' : String(flags))].filter((flag) => flag === 'g' || flag === 'i')
  try {
    const regex = new RegExp(String(pattern), known.join(''))
    const made = inside.object({
      [Symbol.match]: inside.wrap((text) => inside.copy(String(text).match(regex))),
      [Symbol.replace]: inside.wrap((text, by) => String(text).replace(regex, by as string)),
      [Symbol.search]: inside.wrap((text) => String(text).search(regex)),
    })
    patterns.set(Object(made), regex)
    return made
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** A pattern with the flag g goes on where it stopped (T). */
export const testRegex = (regex: Inner, text: Inner): boolean =>
  patterns.get(Object(regex))?.test(String(text)) === true

function orUndefined(convert: () => string): string | undefined {
  try {
    return convert()
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}
