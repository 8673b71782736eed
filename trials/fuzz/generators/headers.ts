import type { Random } from '../../../testkit/random.ts'
import type { HostileValues } from './values.ts'

const NAMES = [
  'Accept',
  'Accept-Encoding',
  'Accept-Language',
  'Authorization',
  'Cookie',
  'Forwarded',
  'Host',
  'If-Match',
  'If-Modified-Since',
  'If-None-Match',
  'If-Range',
  'Last-Event-ID',
  'Origin',
  'Range',
  'Referer',
  'Sec-Fetch-Site',
  'TE',
  'User-Agent',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-HTTP-Method-Override',
  'X-Original-URL',
  '__proto__',
  'constructor',
] as const

const VALUES = [
  '*',
  '*/*',
  'text/html',
  'application/json',
  'gzip, br, identity;q=0',
  'bytes=0-0',
  'bytes=0-,0-,0-,0-',
  'bytes=99999999999-',
  'bytes=-1',
  '"*"',
  'W/""',
  'null',
  'http://evil.invalid',
  'https://127.0.0.1:1',
  'localhost',
  '127.0.0.1, 10.0.0.1, ::1, unknown',
  '::ffff:127.0.0.1%lo',
  'Bearer',
  'Bearer ',
  'Bearer a b',
  'Basic YTpi',
  'tagwarden_session=a.b.c; tagwarden_session=%',
  'a=1; __proto__=2; constructor=3; =; ;;',
  'Thu, 99 Foo 9999 99:99:99 GMT',
] as const

const LONGEST = 7_000
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/g

/** A hostile text as a header may carry it: bytes of UTF-8, without line breaks. */
export const headerText = (text: string): string =>
  Buffer.from(text).toString('latin1').replaceAll(NOT_IN_HEADERS, '?').slice(0, LONGEST)

/** A few headers in forms that no client sends. */
export function hostileHeaders(random: Random, hostile: HostileValues): [string, string][] {
  return Array.from({ length: random.below(4) }, () => [
    random.pick(NAMES),
    random.chance(0.7) ? random.pick(VALUES) : headerText(hostile.text()),
  ])
}

const TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/json;',
  'application/jsonp',
  'APPLICATION/JSON',
  ' application/json',
  'application/json, text/plain',
  'application/vnd.api+json',
  '',
  '/',
  ';;;;',
] as const

/** How the body is announced: mostly as JSON. */
export function contentHeaders(random: Random): [string, string][] {
  const headers: [string, string][] = []
  if (random.chance(0.93)) headers.push(['Content-Type', 'application/json'])
  else if (random.chance(0.8)) headers.push(['Content-Type', random.pick(TYPES)])
  if (random.chance(0.02)) headers.push(['Content-Encoding', random.pick(['gzip', 'br', 'identity', 'zstd', 'x'])])
  return headers
}
