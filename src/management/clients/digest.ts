import type { ClientRow } from '../../store/index.ts'

export const DIGESTS = ['off', 'daily', 'weekly'] as const
export type Digest = (typeof DIGESTS)[number]

/** How often the client gets a digest by e-mail. */
export const digestOf = ({ digest }: Pick<ClientRow, 'digest'>): Digest =>
  DIGESTS.find((known) => known === digest) ?? 'off'
