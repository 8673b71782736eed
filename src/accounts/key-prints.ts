import { type ScryptOptions, scrypt } from 'node:crypto'
import type { Role } from '../http/index.ts'

const SALT = 'tagwarden sign-in'
/** 16 MB and about 50 ms, once a process and token. */
const COST: ScryptOptions = { N: 16_384, r: 8, p: 1 }
const PRINT_BYTES = 16

/** Returns the function that makes of a role's key what is stored of it, once; null where the role has none. */
export function keyPrints(tokens: Readonly<Record<Role, string | null>>): (role: Role) => Promise<string> | null {
  const prints = new Map<Role, Promise<string>>()
  return (role) => {
    const token = tokens[role]
    if (token === null) return null
    const print = prints.get(role) ?? fingerprint(token)
    prints.set(role, print)
    return print
  }
}

/** A key may be one that a person thought up, so guessing it from the database has to be slow. */
const fingerprint = (token: string): Promise<string> =>
  new Promise((resolve, reject) => {
    scrypt(token, SALT, PRINT_BYTES, COST, (error, key) => {
      if (error === null) resolve(key.toString('base64url'))
      else reject(error)
    })
  })
