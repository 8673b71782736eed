import { randomBytes } from 'node:crypto'
import { type Access, accessOf, type Credentials, SESSION_MS } from '../src/http/index.ts'
import type { Clock } from '../src/lib/index.ts'

/** Sessions in memory for keys, for an HTTP edge without a store. There are no accounts. */
export function memoryCredentials(clock: Clock): Credentials {
  const sessions = new Map<string, { access: Access; expiresAt: number }>()
  return {
    async begin(owner) {
      if (!('role' in owner)) throw new Error('no one has an account')
      const value = randomBytes(32).toString('base64url')
      sessions.set(value, { access: accessOf(owner.role, value), expiresAt: clock.now() + SESSION_MS[owner.role] })
      return value
    },
    async accessesOf(values) {
      return new Map(
        values.flatMap((value) => {
          const session = sessions.get(value)
          return session !== undefined && session.expiresAt > clock.now() ? [[value, session.access] as const] : []
        }),
      )
    },
    async end(value) {
      sessions.delete(value)
      return null
    },
    hasAccounts: () => false,
    authenticate: async () => ({ kind: 'wrong' }),
  }
}
