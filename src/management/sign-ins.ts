import { createHash, randomBytes, type ScryptOptions, scrypt } from 'node:crypto'
import { type Role, SESSION_MS, type Sessions } from '../http/index.ts'
import type { Clock } from '../lib/index.ts'
import type { Store } from '../store/index.ts'

export interface SignInOptions {
  store: Store
  clock: Clock
  /** The token of each role; null: no one can sign in with that role. */
  tokens: Readonly<Record<Role, string | null>>
  /** Sessions of one role at a time; one more ends the oldest. */
  maxSessions?: number
}

const MAX_SESSIONS = 1_000

const SALT = 'tagwarden sign-in'
/** 16 MB and about 50 ms, once a process and token. */
const COST: ScryptOptions = { N: 16_384, r: 8, p: 1 }
const PRINT_BYTES = 16

/**
 * Sessions as rows that all nodes share. A row holds no cookie, only its hash, and no token, only what scrypt makes of it:
 * a reader of the database or a backup signs in with neither. A role's session ends when its token changes.
 */
export function createSessions({ store, clock, tokens, maxSessions = MAX_SESSIONS }: SignInOptions): Sessions {
  const prints = new Map<Role, Promise<string>>()

  function printOf(role: Role): Promise<string> | null {
    const token = tokens[role]
    if (token === null) return null
    const print = prints.get(role) ?? fingerprint(token)
    prints.set(role, print)
    return print
  }

  async function begin(role: Role): Promise<string> {
    const print = await printOf(role)
    if (print === null) throw new Error(`there is no token of the role ${role}`)
    const value = randomBytes(32).toString('base64url')
    const now = clock.now()
    await store.write.transaction().execute(async (trx) => {
      await trx.deleteFrom('sign_ins').where('expires_at', '<=', now).execute()
      const oldest = await trx
        .selectFrom('sign_ins')
        .select('expires_at')
        .where('role', '=', role)
        .orderBy('expires_at', 'desc')
        .limit(1)
        .offset(maxSessions - 1)
        .executeTakeFirst()
      if (oldest !== undefined) {
        await trx.deleteFrom('sign_ins').where('role', '=', role).where('expires_at', '<=', oldest.expires_at).execute()
      }
      const row = { id: hashOf(value), role, token_print: print, expires_at: now + SESSION_MS[role] }
      await trx.insertInto('sign_ins').values(row).execute()
    })
    return value
  }

  async function rolesOf(values: readonly string[]): Promise<ReadonlyMap<string, Role>> {
    const byHash = new Map(values.map((value) => [hashOf(value), value]))
    const roles = new Map<string, Role>()
    if (byHash.size === 0) return roles
    const rows = await store.read
      .selectFrom('sign_ins')
      .select(['id', 'role', 'token_print'])
      .where('id', 'in', [...byHash.keys()])
      .where('expires_at', '>', clock.now())
      .execute()
    for (const { id, role, token_print } of rows) {
      const value = byHash.get(id)
      if (value !== undefined && token_print === (await printOf(role))) roles.set(value, role)
    }
    return roles
  }

  const roleOf = async (value: string): Promise<Role | null> => (await rolesOf([value])).get(value) ?? null

  async function end(value: string): Promise<void> {
    await store.write.deleteFrom('sign_ins').where('id', '=', hashOf(value)).execute()
  }

  return { begin, roleOf, rolesOf, end }
}

/** The value is 32 random bytes, so a fast hash is as good as a slow one. */
const hashOf = (value: string): string => createHash('sha256').update(value).digest('base64url')

/** A token may be one that a person thought up, so guessing it from the database has to be slow. */
const fingerprint = (token: string): Promise<string> =>
  new Promise((resolve, reject) => {
    scrypt(token, SALT, PRINT_BYTES, COST, (error, key) => {
      if (error === null) resolve(key.toString('base64url'))
      else reject(error)
    })
  })
