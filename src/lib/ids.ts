import { randomBytes, randomUUID } from 'node:crypto'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const newId = (): string => randomUUID()

export const isUuid = (text: string): boolean => UUID.test(text)

/** A site's ingest key: 32 random bytes as 43 URL-safe characters. */
export const newIngestKey = (): string => randomBytes(32).toString('base64url')
