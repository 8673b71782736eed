import { isObject } from '../../lib/index.ts'
import { SignInFailure } from './failure.ts'

export type Claims = Readonly<Record<string, unknown>>

/** What an issuer asserts about a person who signs in. */
export interface Assertion {
  /** Who asserts it. */
  issuer: string
  /** The person's permanent id at the issuer. */
  subject: string
  /** Null when there is none, or it is not verified. */
  email: string | null
  name: string | null
  groups: readonly string[]
}

const MOST_GROUPS = 5_000
const LONGEST_NAME = 100
const LONGEST_SUBJECT = 255
const EMAIL = /^[^\s<>@,]+@[^\s<>@,]+$/

export interface ReadClaims {
  issuer: string
  groupsClaim: string
  trustsEmail: boolean
}

/**
 * Reads the assertion from an ID token and the userinfo endpoint's answer. The token takes precedence; the address and whether it
 * is verified come from the same one of them.
 *
 * @throws SignInFailure without a subject
 */
export function assertionOf(
  token: Claims,
  info: Claims | null,
  { issuer, groupsClaim, trustsEmail }: ReadClaims,
): Assertion {
  const { sub } = token
  if (typeof sub !== 'string' || sub === '' || sub.length > LONGEST_SUBJECT) {
    throw new SignInFailure('token', 'the ID token has no usable "sub"')
  }
  const of = (name: string): unknown => token[name] ?? info?.[name]
  const name = [of('name'), of('preferred_username')].find((text) => typeof text === 'string' && text.trim() !== '')
  const groups = claimAt(token, groupsClaim) ?? (info === null ? undefined : claimAt(info, groupsClaim))
  return {
    issuer,
    subject: sub,
    email: verifiedEmail(token.email === undefined && info !== null ? info : token, trustsEmail),
    name: typeof name === 'string' ? name.trim().slice(0, LONGEST_NAME) : null,
    groups: groupsOf(groups),
  }
}

/** Whether the token alone contains everything needed. */
export const saysAll = (token: Claims, groupsClaim: string): boolean =>
  token.email !== undefined && claimAt(token, groupsClaim) !== undefined

/** Whether groups were left out because there are too many, as Microsoft Entra does from 200 on. */
export function hasTooManyGroups(token: Claims, groupsClaim: string): boolean {
  const { _claim_names: elsewhere } = token
  return isObject(elsewhere) && groupsClaim in elsewhere
}

/** AWS Cognito sends the string instead of the boolean. */
const VERIFIED: readonly unknown[] = [true, 'true']

function verifiedEmail({ email, email_verified }: Claims, trustsEmail: boolean): string | null {
  if (typeof email !== 'string' || email.length > 254 || !EMAIL.test(email.trim())) return null
  const isVerified = VERIFIED.includes(email_verified) || (trustsEmail && email_verified === undefined)
  return isVerified ? email.trim() : null
}

/** Looks up the whole name first, which may be a URL with dots; then as a path of fields. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  return name
    .split('.')
    .reduce<unknown>((at, part) => (isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined), claims)
}

function groupsOf(value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.filter((group) => typeof group === 'string').slice(0, MOST_GROUPS)
}
