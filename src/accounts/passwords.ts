import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import type { Role } from '../http/index.ts'
import { invalidRequest, Mutex } from '../lib/index.ts'

/** What makes guessing costly: scrypt's N as a power of two, its block size and its parallelism. */
interface PasswordCost {
  ln: number
  r: number
  p: number
}

/**
 * 32 MiB and some 0.2 s of a core per attempt: one of the settings that OWASP's Password Storage Cheat Sheet (2025) lists as
 * equally strong. The one with p = 1 would take 128 MiB, which a service of this size cannot spare.
 */
export const PASSWORD_COST: PasswordCost = { ln: 15, r: 8, p: 3 }

const SALT_BYTES = 16
const HASH_BYTES = 32

/** NIST SP 800-63B asks only for length: rules about characters lead to passwords that are easier to guess. */
const SHORTEST = 12
export const Password = Type.String({
  minLength: SHORTEST,
  maxLength: 256,
  description: `At least ${SHORTEST} characters; a sentence is easier to remember than random characters`,
})

/** @throws AppError `invalid_request` when the password is the person's name or address, or a few repeated characters */
export function requireFit(password: string, person: { email: string; name: string }): void {
  const said = password.trim().toLowerCase()
  const known = [person.email, person.name, person.email.split('@', 1).join()].map((text) => text.trim().toLowerCase())
  if (known.includes(said) || new Set(said).size < 4) {
    throw invalidRequest(
      '/password',
      'must be harder to guess: not your name or address, and not just a few characters repeated',
    )
  }
}

/**
 * Hashes and compares passwords, one at a time: however many attempts come at once, they take one core and 32 MiB. The slots of
 * requests bound how many wait.
 */
export class Passwords {
  readonly #cost: PasswordCost
  readonly #turns = new Mutex()
  /** A hash to compare with for users without a password. */
  #blank: Promise<string> | undefined

  constructor(cost: PasswordCost = PASSWORD_COST) {
    this.#cost = cost
  }

  /** The stored form of a password, with its salt and cost: `$scrypt$ln=15,r=8,p=3$…$…`. */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES)
    return encoded(this.#cost, salt, await this.#derive(password, salt, this.#cost))
  }

  /** Whether the password matches a stored hash. Without a hash it does not, after the same work. */
  async isRight(password: string, stored: string | null): Promise<boolean> {
    this.#blank ??= this.hash(randomBytes(SALT_BYTES).toString('hex'))
    const { cost, salt, hash } = decoded(stored ?? (await this.#blank))
    const isEqual = timingSafeEqual(await this.#derive(password, salt, cost), hash)
    return isEqual && stored !== null
  }

  /** Whether a stored hash is cheaper to guess than a new one would be. */
  isOutdated(stored: string): boolean {
    const { cost } = decoded(stored)
    return cost.ln < this.#cost.ln || cost.r < this.#cost.r || cost.p < this.#cost.p
  }

  #derive(password: string, salt: Buffer, cost: PasswordCost): Promise<Buffer> {
    return this.#turns.run(() => derive(password, salt, cost))
  }
}

/** NFKC, so that characters that look the same are equal, however a keyboard composes them. */
function derive(password: string, salt: Buffer, { ln, r, p }: PasswordCost): Promise<Buffer> {
  const N = 2 ** ln
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}

const encoded = ({ ln, r, p }: PasswordCost, salt: Buffer, hash: Buffer): string =>
  `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`

const FORM = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w-]+)\$([\w-]+)$/

function decoded(stored: string): { cost: PasswordCost; salt: Buffer; hash: Buffer } {
  const [, ln, r, p, salt, hash] = FORM.exec(stored) ?? []
  if (salt === undefined || hash === undefined) throw new Error('the store holds a password hash of an unknown form')
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  }
}

const SALT = 'tagwarden sign-in'
/** 16 MB and about 50 ms, once per process and token. */
const COST: ScryptOptions = { N: 16_384, r: 8, p: 1 }
const PRINT_BYTES = 16

/** Returns a function that gives the stored form of a role's key, computed once; null when the role has none. */
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

/** A person may have chosen the key, so guessing it from the database has to be slow. */
const fingerprint = (token: string): Promise<string> =>
  new Promise((resolve, reject) => {
    scrypt(token, SALT, PRINT_BYTES, COST, (error, key) => {
      if (error === null) resolve(key.toString('base64url'))
      else reject(error)
    })
  })
