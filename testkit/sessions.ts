import { randomBytes } from 'node:crypto'
import { type Role, SESSION_MS, type Sessions } from '../src/http/index.ts'
import type { Clock } from '../src/lib/index.ts'

/** Sessions for an HTTP edge without a store. */
export function memorySessions(clock: Clock): Sessions {
  const sessions = new Map<string, { role: Role; expiresAt: number }>()
  const roleOf = (value: string): Role | null => {
    const session = sessions.get(value)
    return session !== undefined && session.expiresAt > clock.now() ? session.role : null
  }
  return {
    async begin(role) {
      const value = randomBytes(32).toString('base64url')
      sessions.set(value, { role, expiresAt: clock.now() + SESSION_MS[role] })
      return value
    },
    async roleOf(value) {
      return roleOf(value)
    },
    async rolesOf(values) {
      return new Map(
        values.flatMap((value) => {
          const role = roleOf(value)
          return role === null ? [] : [[value, role] as const]
        }),
      )
    },
    async end(value) {
      sessions.delete(value)
    },
  }
}
