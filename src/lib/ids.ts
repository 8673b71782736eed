import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const newId = (): string => randomUUID()

export const isUuid = (text: string): boolean => UUID.test(text)

/** How many ids were made for each millisecond. Not only for the latest one, because ids of different moments are made alternately. */
const counts = new Map<number, number>()
const TIMES_MAX = 1_000

/**
 * A UUID (version 7, RFC 9562) that begins with the time. As text, the ids of one process sort in the order in which they were
 * made.
 *
 * @param time epoch ms
 */
export function newOrderedId(time: number): string {
  const made = counts.get(time) ?? 0
  // Reinserted, so that the one used last comes last.
  counts.delete(time)
  counts.set(time, made + 1)
  const [oldest] = counts.keys()
  if (counts.size > TIMES_MAX && oldest !== undefined) counts.delete(oldest)
  const random = randomUUID()
  // A counter of 12 bits; more ids in one millisecond are in random order.
  const count = (made & 0xfff).toString(16).padStart(3, '0')
  const hex = time.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${count}-${random.slice(19)}`
}

/** A lower bound of every id that `newOrderedId` makes at `time` or later; for a time before 1970, of every id. */
export function firstIdAt(time: number): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-0000-000000000000`
}

/** The time that an id of `newOrderedId` begins with, epoch ms. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** 32 random bytes as 43 URL-safe characters: a bearer secret. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/**
 * The stored form of a secret that need not be shown again. Looking it up takes the same time however much of a guess is right.
 * For random bytes a fast hash is as good as a slow one.
 */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url')

/**
 * A fingerprint by which someone who has a secret can check that it is the stored one, without the secret being shown. It differs
 * by owner, so equal secrets of two owners do not show.
 */
export const fingerprintOf = (ownerId: string, secret: string): string =>
  createHmac('sha256', ownerId).update(secret).digest('base64url').slice(0, 16)
