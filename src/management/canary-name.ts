import { createHmac, randomBytes } from 'node:crypto'

/** The prefix of canaries' names. Triggers that exclude canaries match it. */
export const CANARY_PREFIX = 'tagwarden_canary_'

/** Hexadecimal digits. GA4 accepts names of 40 characters, and the prefix has 17. `NAME` has the same numbers. */
const RANDOM_DIGITS = 12
const PROOF_DIGITS = 8
const NAME = /^tagwarden_canary_([0-9a-f]{12})([0-9a-f]{8})$/

/**
 * The name of a new canary of the site. Visitors can send events of any name through the container, but cannot make one of these:
 * its end proves that its maker has the site's key. So strangers cannot fill the list of arrivals.
 */
export function newCanaryName(ingestKey: string): string {
  const random = randomBytes(RANDOM_DIGITS / 2).toString('hex')
  return `${CANARY_PREFIX}${random}${proofOf(ingestKey, random)}`
}

export function isCanaryOf(ingestKey: string, name: string): boolean {
  const [, random, proof] = NAME.exec(name) ?? []
  return random !== undefined && proof === proofOf(ingestKey, random)
}

const proofOf = (ingestKey: string, random: string): string =>
  createHmac('sha256', ingestKey).update(`canary ${random}`).digest('hex').slice(0, PROOF_DIGITS)
