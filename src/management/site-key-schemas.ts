import { type Static, Type } from 'typebox'
import { IsoTime, model, nullable, Uuid } from '../http/index.ts'
import { isoTime, isoTimeOrNull } from '../lib/index.ts'
import type { SiteKeyRow } from '../store/index.ts'
import { ONE_LINE } from './client-schemas.ts'
import { keyState } from './key-validity.ts'

/** A key and its last use; null when none is known. */
export interface UsedKey {
  key: SiteKeyRow
  lastUsedAt: number | null
}

const KeyName = Type.String({
  ...ONE_LINE,
  maxLength: 60,
  description: 'What sends with it, like `web container`; leading and trailing spaces are removed',
})

export const SiteKeyRecord = model('SiteKey', {
  id: Uuid,
  name: KeyName,
  ingest_key: nullable(Type.String({ description: 'null for viewers' })),
  state: Type.Enum(['valid', 'expiring', 'expired', 'revoked'], {
    description: '`valid` and `expiring` keys are accepted, the latter until `expires_at`',
  }),
  created_at: IsoTime,
  expires_at: nullable({ ...IsoTime, description: 'When it ends because another key replaces it' }),
  revoked_at: nullable(IsoTime),
  last_used_at: nullable({
    ...IsoTime,
    description: 'When a request last arrived with it, including refused ones; up to a minute late',
  }),
})
export type SiteKeyRecord = Static<typeof SiteKeyRecord>

export const AddKey = Type.Object({ name: KeyName }, { additionalProperties: false })
export type AddKey = Static<typeof AddKey>

export const RotateKey = Type.Object(
  {
    name: Type.Optional({ ...KeyName, description: 'Name of the new key; that of the old one by default' }),
    old_until: Type.Optional({
      ...IsoTime,
      description: 'Until when the old key is accepted, at most a year ahead; 7 days by default',
    }),
  },
  { additionalProperties: false },
)
export type RotateKey = Static<typeof RotateKey>

export const ChangeKey = Type.Object(
  {
    name: Type.Optional(KeyName),
    expires_at: Type.Optional(
      nullable({
        ...IsoTime,
        description: 'New end of a key that is being replaced; null: it no longer ends',
      }),
    ),
  },
  { additionalProperties: false },
)
export type ChangeKey = Static<typeof ChangeKey>

export const SiteKeyParams = Type.Object({ site_id: Uuid, key_id: Uuid })

/**
 * A key's record in the API.
 *
 * @param now epoch ms
 * @param isSecretShown whether the caller may see the key itself
 */
export function siteKeyRecord({ key, lastUsedAt }: UsedKey, now: number, isSecretShown: boolean): SiteKeyRecord {
  const { site_id: _site, ingest_key, created_at, expires_at, revoked_at, ...shown } = key
  return {
    ...shown,
    ingest_key: isSecretShown ? ingest_key : null,
    state: keyState(key, now),
    created_at: isoTime(created_at),
    expires_at: isoTimeOrNull(expires_at),
    revoked_at: isoTimeOrNull(revoked_at),
    last_used_at: isoTimeOrNull(lastUsedAt),
  }
}
