import { HOUR } from '../../lib/index.ts'
import type { Role } from './access.ts'

export const SESSION_COOKIE = 'tagwarden_session'
export const SESSION_MS = 12 * HOUR

/** Who is signed in, by the value of the session cookie. All nodes see the same. */
export interface Sessions {
  /** Begins a session of `SESSION_MS` and resolves to the cookie's value, which says nothing and cannot be guessed. */
  begin(role: Role): Promise<string>
  /** The role a cookie's value stands for; null when the session has ended, or there never was one. */
  roleOf(value: string): Promise<Role | null>
  /** The roles of those of many values that stand for one, all asked for at once. */
  rolesOf(values: readonly string[]): Promise<ReadonlyMap<string, Role>>
  /** From now on the value is no session. */
  end(value: string): Promise<void>
}
