import { createHash } from 'node:crypto'

/** Of random bytes, of which a fast hash is as good as a slow one; and to tell two texts apart that are hashes themselves. */
export const hashOf = (value: string): string => createHash('sha256').update(value).digest('base64url')
