import type { FastifyRequest } from 'fastify'
import { createThrottle, type Person, RateLimitedError } from '../http/index.ts'
import { type Clock, SECOND } from '../lib/index.ts'
import type { KnownCredentials } from './credentials.ts'

/**
 * Whether what someone who is signed in types as their password is it. Someone at a session of another person's must not find it out: wrong ones wait as at
 * the sign-in.
 *
 * @throws RateLimitedError
 */
export type IsOwnPassword = (
  request: FastifyRequest,
  person: Person,
  password: string,
  stored: string | null,
) => Promise<boolean>

export function ownPasswordCheck({
  clock,
  credentials,
}: {
  clock: Clock
  credentials: Pick<KnownCredentials, 'passwords'>
}): IsOwnPassword {
  const throttle = createThrottle(clock)
  return async (request, { email }, password, stored) => {
    const guesser = { address: request.ip, isByOwnName: true }
    const wait = throttle.waitForPassword(guesser, email)
    if (wait > 0) throw new RateLimitedError('Too many wrong passwords', Math.ceil(wait / SECOND))
    throttle.passwordTried(guesser, email)
    const isRight = await credentials.passwords.isRight(password, stored)
    if (isRight) throttle.passwordRight(guesser, email)
    return isRight
  }
}
