import { createHash, timingSafeEqual } from 'node:crypto'
import type { AccessSettings, Role } from './access.ts'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Returns the function that finds a token's role, or null for none. Digests are compared, in constant time: they have
 * one length whatever was sent, and how long the answer takes says nothing about how much of a guess was right.
 */
export function tokenRoles(settings: Pick<AccessSettings, 'adminToken' | 'viewerToken'>) {
  const known: { role: Role; digest: Buffer }[] = []
  if (settings.adminToken !== null) known.push({ role: 'admin', digest: digest(settings.adminToken) })
  if (settings.viewerToken !== null) known.push({ role: 'viewer', digest: digest(settings.viewerToken) })
  return (token: string): Role | null => {
    const given = digest(token)
    return known.filter((entry) => timingSafeEqual(entry.digest, given))[0]?.role ?? null
  }
}

/** The token of an `Authorization: Bearer …` header, or null when there is no such header. */
export function bearerToken(header: string | undefined): string | null {
  return /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null
}
