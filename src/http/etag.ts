import { createHash } from 'node:crypto'

/** A strong validator of an answer's content. */
export const etagOf = (content: unknown): string =>
  `"${createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 27)}"`

/** Whether an `If-None-Match` header names the validator (RFC 9110, 13.1.2: the comparison is weak). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag)
}
