import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { HOUR } from '../../lib/index.ts'
import type { AccessSettings, Role } from './access.ts'

export const SESSION_COOKIE = 'tagwarden_session'
export const SESSION_MS = 12 * HOUR

/**
 * The key that sessions are signed with. It is made of the tokens, so every node knows it without storing it, and a
 * changed token signs everybody out.
 */
export function sessionKey({ adminToken, viewerToken }: Pick<AccessSettings, 'adminToken' | 'viewerToken'>): Buffer {
  return createHash('sha256')
    .update(JSON.stringify(['tagwarden session', adminToken, viewerToken]))
    .digest()
}

/** A cookie value that says "this role until then" (epoch ms). Nothing is kept on our side. */
export function signSession(key: Buffer, role: Role, expiresAt: number): string {
  const claim = `${role}.${expiresAt}`
  return `${claim}.${signature(key, claim).toString('base64url')}`
}

/** The role a cookie value stands for, or null when it is not ours or has expired. */
export function readSession(key: Buffer, value: string, now: number): Role | null {
  const [, claim, role, expiresAt, given] = /^((admin|viewer)\.(\d{1,15}))\.([\w-]{43})$/.exec(value) ?? []
  if (claim === undefined || given === undefined) return null
  if (!timingSafeEqual(signature(key, claim), Buffer.from(given, 'base64url'))) return null
  return Number(expiresAt) > now ? (role as Role) : null
}

const signature = (key: Buffer, claim: string): Buffer => createHmac('sha256', key).update(claim).digest()
