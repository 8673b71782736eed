import { isObject, parseForeignJson } from '../../lib/index.ts'
import { RELEASES } from './judge.ts'

/** The version that an answer names, as `4.2.0`; or why it names none, to be read after “the answer”. */
export type ReadVersion = { version: string } | { why: string }

/** Longer texts are no version and no image. */
const LENGTH_MAX = 300
const VERSION = /^v?(\d{1,3})\.(\d{1,4})(?:\.(\d{1,5}))?(?:[-+][0-9A-Za-z.+-]{1,60})?$/
const DIGEST = /^(?:([^@]*)@)?sha256:([0-9a-f]{64})$/

/** Where an answer that is an object has the version when no pointer says it. */
const USUAL_NAMES = ['version', 'image_version', 'imageVersion', 'image'] as const

/**
 * The version in what an address answered: a version or an image as text, or JSON that holds one.
 *
 * @param pointer where JSON has it (RFC 6901); undefined: under a usual name
 */
export function versionInAnswer(body: string, pointer: string | undefined): ReadVersion {
  if (pointer !== undefined) {
    const json = parseForeignJson(body)
    return json === undefined ? { why: 'is not JSON, or is too nested or too long' } : versionAt(json, pointer)
  }
  // As text first: JSON takes 4.10 for the number 4.1.
  const read = versionIn(body)
  if ('version' in read) return read
  const json = parseForeignJson(body)
  return isObject(json) ? versionUnder(json, USUAL_NAMES) : read
}

/** Of an object, what the first of these names holds that is a version. */
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
  return { why: `has no text at ${pointer}, and a version has to be text: the numbers 4.10 and 4.1 are the same` }
}

/** RFC 6901. Undefined where there is nothing. */
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

/** `4.2.0`, `v4.2`, `…/gtm-cloud-image:4.2.0`, or an image with the digest of a release. */
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

/** What stands behind the colon of an image's name; a text that is no such name, as it is. */
function tagOf(name: string): string {
  const [colon, slash] = [name.lastIndexOf(':'), name.lastIndexOf('/')]
  if (colon > slash) return name.slice(colon + 1)
  return slash === -1 ? name : ''
}
