import { type Static, Type } from 'typebox'
import {
  type Access,
  API_TOKEN_PREFIX,
  CLIENT_ROLES,
  type Grants,
  IsoTime,
  type ListQuery,
  model,
  NO_GRANTS,
  nullable,
  type Page,
  pageOfIds,
  Uuid,
  unknownAfter,
  type Visible,
} from '../http/index.ts'
import {
  AppError,
  asError,
  type Clock,
  DAY,
  hashOf,
  invalidRequest,
  isoTime,
  isoTimeOrNull,
  MINUTE,
  newOrderedId,
  newSecret,
  notFound,
} from '../lib/index.ts'
import { type Context, ONE_LINE, removeViewsOf, writeAudit } from '../management/index.ts'
import type { ApiTokenRow, Kysely, Store, Tables, Transaction } from '../store/index.ts'
import { lockGiving, managedClients, roleOf } from './roles.ts'

/** Resolution of a token's last use, ms, so that not every call writes it. */
const USED_EVERY_MS = MINUTE
const MOST_TOKENS = 10_000
/** Most tokens that a client's owners may make for it: otherwise one client's owners could use up all tokens. */
const MOST_OF_CLIENT = 100
const MOST_CLIENTS = 1_000
const FURTHEST_END = 5 * 366 * DAY
/** Enough to tell tokens apart, and of no use for guessing one. */
const HINT_LENGTH = 4

const fields = {
  name: Type.String({
    ...ONE_LINE,
    minLength: 1,
    maxLength: 60,
    description: 'What the token is for; the audit log shows it',
  }),
  role: Type.Enum([...CLIENT_ROLES], {
    description: 'Viewers read, editors also change, owners also manage people and tokens',
  }),
  expires_at: nullable(Type.Unsafe<string>({ ...IsoTime, description: 'Null: never' })),
}

const ClientIds = {
  type: ['array', 'null'],
  items: Uuid,
  description: 'null: every client and the service itself',
}

export const ApiTokenRecord = model('ApiToken', {
  id: Uuid,
  ...fields,
  client_ids: Type.Unsafe<string[] | null>(ClientIds),
  hint: Type.String({ description: 'Its last characters' }),
  created_at: IsoTime,
  created_by: Type.String({ description: 'Who created it, as in the audit log' }),
  last_used_at: nullable(
    Type.Unsafe<string>({ ...IsoTime, description: 'When it was last used, to the minute; null: never' }),
  ),
})
export type ApiTokenRecord = Static<typeof ApiTokenRecord>

export const NewApiToken = model('NewApiToken', {
  ...ApiTokenRecord.properties,
  token: Type.String({ description: 'The token itself, which is shown only here' }),
})
export type NewApiToken = Static<typeof NewApiToken>

export const CreateApiToken = Type.Object(
  {
    name: fields.name,
    role: fields.role,
    client_ids: Type.Optional(
      Type.Unsafe<string[] | null>({ ...ClientIds, minItems: 1, maxItems: MOST_CLIENTS, uniqueItems: true }),
    ),
    expires_at: Type.Optional(fields.expires_at),
  },
  { additionalProperties: false },
)
export type CreateApiToken = Static<typeof CreateApiToken>

/** The access that each API token gives; expired and revoked ones are left out. */
export async function accessesOfTokens(
  { store, clock, onError }: { store: Store; clock: Clock; onError: (error: Error, what: string) => void },
  tokens: readonly string[],
): Promise<[string, Access][]> {
  const byHash = new Map(tokens.map((token) => [hashOf(token), token]))
  const rows = await store.read
    .selectFrom('api_tokens')
    .selectAll()
    .where('token_hash', 'in', [...byHash.keys()])
    .execute()
  const now = clock.now()
  const valid = rows.filter(({ expires_at }) => expires_at === null || expires_at > now)
  const stale = valid.filter(({ last_used_at }) => last_used_at === null || now - last_used_at >= USED_EVERY_MS)
  if (stale.length > 0) {
    await store.write
      .updateTable('api_tokens')
      .set({ last_used_at: now })
      .where(
        'id',
        'in',
        stale.map(({ id }) => id),
      )
      .execute()
      // Programs get in while nothing can be written.
      .catch((thrown: unknown) => onError(asError(thrown), 'noting which tokens are used'))
  }
  return valid.flatMap((row): [string, Access][] => {
    const token = byHash.get(row.token_hash)
    if (token === undefined) return []
    const who = { session: null, credential: token, person: null, holder: row.id } as const
    return [[token, { ...who, role: 'token', actor: `token ${row.name}`, grants: grantsOfToken(row) }]]
  })
}

function grantsOfToken(row: Pick<ApiTokenRow, 'role' | 'client_ids'>): Grants {
  const role = roleOf(row.role)
  const ids = clientsOf(row)
  return ids === null ? { ...NO_GRANTS, all: role } : { all: null, clients: new Map(ids.map((id) => [id, role])) }
}

// We wrote the text, so it is a list of ids.
const clientsOf = ({ client_ids }: Pick<ApiTokenRow, 'client_ids'>): string[] | null =>
  client_ids === null ? null : (JSON.parse(client_ids) as string[])

/**
 * The ids of the tokens that the caller manages, oldest first.
 *
 * @throws AppError `invalid_request` when `after` is not the id of one of them
 */
export async function tokenIds(
  { read }: Pick<Store, 'read'>,
  access: Access,
  { after, limit }: ListQuery,
): Promise<Page<string>> {
  const managed = managedClients(access)
  const rows = await read.selectFrom('api_tokens').select(['id', 'client_ids']).orderBy('id').execute()
  const shown = rows.filter((row) => isManaged(row, managed))
  const last = after === undefined ? -1 : shown.findIndex(({ id }) => id === after)
  if (after !== undefined && last === -1) throw unknownAfter('a token')
  return pageOfIds(shown.slice(last + 1), limit)
}

/** These tokens, oldest first. */
export async function tokensOf({ read }: Pick<Store, 'read'>, ids: readonly string[]): Promise<ApiTokenRecord[]> {
  const rows = await read.selectFrom('api_tokens').selectAll().where('id', 'in', ids).orderBy('id').execute()
  return rows.map(tokenRecord)
}

function isManaged(row: Pick<ApiTokenRow, 'client_ids'>, managed: Visible): boolean {
  if (managed === null) return true
  return clientsOf(row)?.every((id) => managed.includes(id)) ?? false
}

/** @throws AppError `forbidden` when it would exceed the caller's own rights, `invalid_request`, or `conflict` when there are too many */
export async function createToken(ctx: Context, access: Access, input: CreateApiToken): Promise<NewApiToken> {
  const now = ctx.clock.now()
  const { name, role, client_ids: clientIds = null, expires_at = null } = input
  if (clientIds === null && managedClients(access) !== null) {
    throw new AppError('forbidden', 'Only an owner of all clients can create a token for every client: give client_ids')
  }
  const expiresAt = expires_at === null ? null : Date.parse(expires_at)
  if (expiresAt !== null && expiresAt <= now) throw invalidRequest('/expires_at', 'must be in the future')
  if (expiresAt !== null && expiresAt > now + FURTHEST_END)
    throw invalidRequest('/expires_at', 'must be within 5 years')
  const token = `${API_TOKEN_PREFIX}${newSecret()}`
  const row: ApiTokenRow = {
    id: newOrderedId(now),
    name: name.trim(),
    token_hash: hashOf(token),
    hint: token.slice(-HINT_LENGTH),
    role,
    client_ids: clientIds && JSON.stringify(clientIds),
    created_at: now,
    created_by: ctx.actor,
    expires_at: expiresAt,
    last_used_at: null,
  }
  await ctx.store.write.transaction().execute(async (trx) => {
    await lockGiving(trx, ctx.store)
    if (clientIds !== null) await requireClients(trx, clientIds, '/client_ids')
    // The request is about these clients; tokens that are also for others count as well.
    const grants = access.allGrants ?? access.grants
    await requireRoom(trx, managedClients({ ...access, grants }), clientIds ?? [])
    await trx.insertInto('api_tokens').values(row).execute()
    await auditToken(trx, ctx, 'create', row)
  })
  return { ...tokenRecord(row), token }
}

/** For callers who manage some clients, only tokens that they could revoke count. @throws AppError `conflict` */
async function requireRoom(trx: Transaction<Tables>, managed: Visible, clientIds: readonly string[]): Promise<void> {
  const there = await trx.selectFrom('api_tokens').select('client_ids').execute()
  if (there.length >= MOST_TOKENS) throw new AppError('conflict', `There are ${MOST_TOKENS} tokens: revoke one`)
  if (managed === null) return
  const own = there.filter((row) => isManaged(row, managed)).flatMap((row) => clientsOf(row) ?? [])
  const isFull = clientIds.some((id) => own.filter((other) => other === id).length >= MOST_OF_CLIENT)
  if (isFull) throw new AppError('conflict', `The client has ${MOST_OF_CLIENT} tokens: revoke one`)
}

/** Revokes a token at once. @throws AppError `not_found` */
export async function revokeToken(ctx: Context, access: Access, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await trx.deleteFrom('api_tokens').where('id', '=', id).returningAll().executeTakeFirst()
    if (row === undefined || !isManaged(row, managedClients(access))) throw notFound('API token')
    await removeViewsOf(trx, id)
    await auditToken(trx, ctx, 'revoke', row)
  })
}

/**
 * For a deleted client: deletes tokens for it alone, and restricts others to their remaining clients, so that the owners of those
 * can revoke them.
 */
export async function removeTokensOfClient(trx: Transaction<Tables>, clientId: string): Promise<void> {
  const rows = await trx.selectFrom('api_tokens').select(['id', 'client_ids']).execute()
  for (const row of rows) {
    const ids = clientsOf(row)
    if (ids === null || !ids.includes(clientId)) continue
    const left = ids.filter((id) => id !== clientId)
    if (left.length === 0) {
      await trx.deleteFrom('api_tokens').where('id', '=', row.id).execute()
      await removeViewsOf(trx, row.id)
    } else
      await trx
        .updateTable('api_tokens')
        .set({ client_ids: JSON.stringify(left) })
        .where('id', '=', row.id)
        .execute()
  }
}

/** @throws AppError `invalid_request` when one is not the id of a client */
export async function requireClients(db: Kysely<Tables>, ids: readonly string[], path: string): Promise<void> {
  if (ids.length === 0) return
  const rows = await db
    .selectFrom('clients')
    .select('id')
    .where('id', 'in', [...ids])
    .execute()
  const known = new Set(rows.map(({ id }) => id))
  const unknown = ids.findIndex((id) => !known.has(id))
  if (unknown !== -1) throw invalidRequest(`${path}/${unknown}`, 'is not the id of a client')
}

function tokenRecord(row: ApiTokenRow): ApiTokenRecord {
  const { id, name, hint, role, created_at, created_by, expires_at, last_used_at } = row
  return {
    id,
    name,
    role: roleOf(role),
    expires_at: isoTimeOrNull(expires_at),
    client_ids: clientsOf(row),
    hint,
    created_at: isoTime(created_at),
    created_by,
    last_used_at: isoTimeOrNull(last_used_at),
  }
}

/** Audits a token for several clients in an entry of each, which its owners can read. */
const auditToken = (
  trx: Transaction<Tables>,
  ctx: Context,
  verb: 'create' | 'revoke',
  row: ApiTokenRow,
): Promise<void> =>
  writeAudit(
    trx,
    ctx,
    (clientsOf(row) ?? [null]).map((clientId) => {
      const { name, role, expires_at } = row
      const fields = { name, role, clients: clientId ?? 'all clients', expires_at: isoTimeOrNull(expires_at) }
      const [before, after] = verb === 'create' ? [null, fields] : [fields, null]
      return { entity: 'api_token', verb, id: row.id, clientId, before, after }
    }),
  )
