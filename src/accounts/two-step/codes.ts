import { randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { hashOf, MINUTE, SECOND } from '../../lib/index.ts'

/** What every app takes; others leave out what is not this. */
const FORM = { algorithm: 'SHA1', digits: 6, period: 30 } as const
const STEP_MS = FORM.period * SECOND
/** Of a phone whose clock is off, and of one who types slowly, the code before and the one after count, too. */
const WINDOW = 1
const SECRET_BYTES = 20

const RECOVERY_CODES = 10
/** Without signs that look like others: Crockford's base 32. 16 of them are 80 bits, so that a fast hash may be stored. */
const RECOVERY_SIGNS = '0123456789abcdefghjkmnpqrstvwxyz'
const RECOVERY_LENGTH = 16
const RECOVERY_GROUP = 4

export const newTwoStepSecret = (): string => new Secret({ size: SECRET_BYTES }).base32

const totp = (secret: string, email = ''): TOTP =>
  new TOTP({ ...FORM, issuer: 'Tagwarden', label: email, secret: Secret.fromBase32(secret) })

/** What an app reads from the picture that it is shown. */
export const addressForApp = (secret: string, email: string): string => totp(secret, email).toString()

/** The step of time that a code is of, or null where it is not right at this time. @param now epoch ms */
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

/** What is stored of a recovery code, however it was typed. */
export function hashOfRecoveryCode(userId: string, code: string): string {
  const plain = code
    .toLowerCase()
    .replaceAll(/[^0-9a-z]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1')
  return hashOf(`${userId} ${plain}`)
}

/** Wrong codes in a row that cost nothing. */
const FREE_FAILURES = 5
const LONGEST_WAIT_MS = 60 * MINUTE

/**
 * How long wrong codes in a row keep the account out after the last of them, ms: 0, then 1 s doubling to an hour. Someone who guesses knows the
 * password, and of a million codes three are right at a time: with this, a year of guesses finds one in 38 times.
 */
export function codeDelay(failures: number): number {
  if (failures < FREE_FAILURES) return 0
  return Math.min(LONGEST_WAIT_MS, SECOND * 2 ** Math.min(failures - FREE_FAILURES, 20))
}
