import { randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { hashOf, MINUTE, SECOND } from '../../lib/index.ts'

/** What every app supports; some ignore other values. */
const FORM = { algorithm: 'SHA1', digits: 6, period: 30 } as const
const STEP_MS = FORM.period * SECOND
/** Also accepts the codes before and after, for a phone whose clock is off and for slow typists. */
const WINDOW = 1
const SECRET_BYTES = 20

const RECOVERY_CODES = 10
/** Crockford's base 32, without characters that look alike. 16 of them are 80 bits, so a fast hash is enough for storage. */
const RECOVERY_SIGNS = '0123456789abcdefghjkmnpqrstvwxyz'
const RECOVERY_LENGTH = 16
const RECOVERY_GROUP = 4

export const newTwoStepSecret = (): string => new Secret({ size: SECRET_BYTES }).base32

const totp = (secret: string, email = ''): TOTP =>
  new TOTP({ ...FORM, issuer: 'Tagwarden', label: email, secret: Secret.fromBase32(secret) })

/** The `otpauth://` address that an app reads from the QR code. */
export const addressForApp = (secret: string, email: string): string => totp(secret, email).toString()

/** The time step of a code, or null when the code is wrong at this time. @param now epoch ms */
export function stepOfCode(secret: string, code: string, now: number): number | null {
  if (!isAppCode(code)) return null
  const delta = totp(secret).validate({ token: code, timestamp: now, window: WINDOW })
  return delta === null ? null : Math.floor(now / STEP_MS) + delta
}

export const isAppCode = (code: string): boolean => /^\d{6}$/.test(code)

export const newRecoveryCodes = (): string[] => Array.from({ length: RECOVERY_CODES }, newRecoveryCode)

function newRecoveryCode(): string {
  const signs = Array.from({ length: RECOVERY_LENGTH }, () => RECOVERY_SIGNS[randomInt(RECOVERY_SIGNS.length)])
  const groups = Array.from({ length: RECOVERY_LENGTH / RECOVERY_GROUP }, (_, at) =>
    signs.slice(at * RECOVERY_GROUP, (at + 1) * RECOVERY_GROUP).join(''),
  )
  return groups.join('-')
}

/** The stored form of a recovery code, however it was typed. */
export function hashOfRecoveryCode(userId: string, code: string): string {
  const plain = code
    .toLowerCase()
    .replaceAll(/[^0-9a-z]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1')
  return hashOf(`${userId} ${plain}`)
}

/** Consecutive wrong codes that cost nothing. */
const FREE_FAILURES = 5
const LONGEST_WAIT_MS = 60 * MINUTE

/**
 * How long the account has to wait after the last of consecutive wrong codes, ms: 0, then 1 s doubling up to an hour. Someone who
 * guesses knows the password, and of a million codes three are valid at a time: with this, a year of guessing succeeds once in 38
 * times.
 */
export function codeDelay(failures: number): number {
  if (failures < FREE_FAILURES) return 0
  return Math.min(LONGEST_WAIT_MS, SECOND * 2 ** Math.min(failures - FREE_FAILURES, 20))
}
