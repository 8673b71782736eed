import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const newId = (): string => randomUUID()

export const isUuid = (text: string): boolean => UUID.test(text)

/** How many ids of a millisecond there are. Not only of the last one: what is of one moment is written between what is of others. */
const counts = new Map<number, number>()
const TIMES_MAX = 1_000

/**
 * A UUID (version 7, RFC 9562) that begins with the time: as text, the ids of one process stand in the order in which they
 * were made.
 *
 * @param time epoch ms
 */
export function newOrderedId(time: number): string {
  const made = counts.get(time) ?? 0
  // The one used last comes last.
  counts.delete(time)
  counts.set(time, made + 1)
  const [oldest] = counts.keys()
  if (counts.size > TIMES_MAX && oldest !== undefined) counts.delete(oldest)
  const random = randomUUID()
  // 12 bits of the counter; more ids in one millisecond would be ordered by chance.
  const count = (made & 0xfff).toString(16).padStart(3, '0')
  const hex = time.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${count}-${random.slice(19)}`
}

/** What every id that `newOrderedId` makes at `time` or later is at or above; every id is at or above that of a time before 1970. */
export function firstIdAt(time: number): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-0000-000000000000`
}

/** 32 random bytes as 43 URL-safe characters: a bearer secret. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/**
 * What is stored of a secret that need not be shown again; to look it up takes the same time however much of a guess is right. For random bytes
 * a fast hash is as good as a slow one.
 */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url')

/**
 * By which someone who has a secret finds out whether it is the one that is stored, without it being shown. Another owner's of the same
 * secret is another, so none says that two are alike.
 */
export const fingerprintOf = (ownerId: string, secret: string): string =>
  createHmac('sha256', ownerId).update(secret).digest('base64url').slice(0, 16)
