import { type Static, Type } from 'typebox'
import { IsoTime, nullable, Uuid } from '../http/index.ts'
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
  description: 'Who sends with it, like `web container`; space around it is removed',
})

export const SiteKeyRecord = Type.Object({
  id: Uuid,
  name: KeyName,
  ingest_key: nullable(Type.String({ description: 'null for viewers' })),
  state: Type.Enum(['valid', 'expiring', 'expired', 'revoked'], {
    description: '`valid` and `expiring` keys are accepted, the latter until `expires_at`',
  }),
  created_at: IsoTime,
  expires_at: nullable({ ...IsoTime, description: 'When it ends because another has replaced it' }),
  revoked_at: nullable(IsoTime),
  last_used_at: nullable({
    ...IsoTime,
    description: 'When a request last came with it, refused ones too; up to a minute late',
  }),
})
export type SiteKeyRecord = Static<typeof SiteKeyRecord>

export const AddKey = Type.Object({ name: KeyName }, { additionalProperties: false })
export type AddKey = Static<typeof AddKey>

export const RotateKey = Type.Object(
  {
    name: Type.Optional({ ...KeyName, description: "The new key's; left out, that of the old one" }),
    old_until: Type.Optional({
      ...IsoTime,
      description: 'Until when the old key is accepted, at most a year ahead; left out, 7 days',
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
        description: 'Moves the end of a key that is being replaced; null: it has no end any more',
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
