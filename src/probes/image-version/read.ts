import { isObject, parseForeignJson } from '../../lib/index.ts'
import { RELEASES } from './judge.ts'

/** The version in an answer, e.g. `4.2.0`, or why there is none, as words that follow “the answer”. */
export type ReadVersion = { version: string } | { why: string }

/** A longer text is neither a version nor the name of an image. */
const LENGTH_MAX = 300
const VERSION = /^v?(\d{1,3})\.(\d{1,4})(?:\.(\d{1,5}))?(?:[-+][0-9A-Za-z.+-]{1,60})?$/
const DIGEST = /^(?:([^@]*)@)?sha256:([0-9a-f]{64})$/

/** Where an object has the version if no pointer is given. */
const USUAL_NAMES = ['version', 'image_version', 'imageVersion', 'image'] as const

/**
 * Returns the version in an answer: a version or an image as text, or JSON that contains one.
 *
 * @param pointer where JSON has it (RFC 6901); undefined: under one of the usual names
 */
export function versionInAnswer(body: string, pointer: string | undefined): ReadVersion {
  if (pointer !== undefined) {
    const json = parseForeignJson(body)
    return json === undefined ? { why: 'is not JSON, or is too nested or too long' } : versionAt(json, pointer)
  }
  // As text first: JSON would read 4.10 as the number 4.1.
  const read = versionIn(body)
  if ('version' in read) return read
  const json = parseForeignJson(body)
  return isObject(json) ? versionUnder(json, USUAL_NAMES) : read
}

/** Returns the version in the first of these fields that has one. */
export function versionUnder(fields: Readonly<Record<string, unknown>>, names: readonly string[]): ReadVersion {
  const read = names.flatMap((name) => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    return typeof value === 'string' ? [versionIn(value)] : []
  })
  const none = { why: `has none of ${names.join(', ')}: set json_pointer` }
  return read.find((one) => 'version' in one) ?? read[0] ?? none
}

export function versionAt(json: unknown, pointer: string): ReadVersion {
  const value = valueAt(json, pointer)
  if (value === undefined) return { why: `has nothing at ${pointer}` }
  if (typeof value === 'string') return versionIn(value)
  return { why: `has no text at ${pointer}, but a version must be text: the numbers 4.10 and 4.1 are the same` }
}

/** Resolves a JSON pointer (RFC 6901); undefined when nothing is there. */
function valueAt(json: unknown, pointer: string): unknown {
  let value = json
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    if (!isThere || (Array.isArray(value) && !/^\d+$/.test(name))) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}

/** Reads `4.2.0`, `v4.2`, `…/gtm-cloud-image:4.2.0`, or an image with the digest of a release. */
function versionIn(given: string): ReadVersion {
  if (given.length > LENGTH_MAX) return { why: `is longer than the ${LENGTH_MAX} characters that a version may have` }
  const text = given.trim().replace(/^"(.*)"$/, '$1')
  const [, image, digest] = DIGEST.exec(text) ?? []
  const name = digest === undefined ? text : (image ?? '')
  const [, major, minor, patch = '0'] = VERSION.exec(tagOf(name)) ?? []
  if (major !== undefined) return { version: [major, minor, patch].map(Number).join('.') }
  if (digest === undefined) return { why: `names no version: ${JSON.stringify(text.slice(0, 100))}` }
  const known = RELEASES.find((release) => release.digest === digest)
  return known === undefined
    ? { why: `names the image by a digest of no release that this version knows: sha256:${digest.slice(0, 12)}…` }
    : { version: known.version }
}

/** Returns the tag of an image's name; any other text unchanged. */
function tagOf(name: string): string {
  const [colon, slash] = [name.lastIndexOf(':'), name.lastIndexOf('/')]
  if (colon > slash) return name.slice(colon + 1)
  return slash === -1 ? name : ''
}
