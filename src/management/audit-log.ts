import { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import {
  type Access,
  DEFAULT_PAGE,
  type HttpApp,
  IsoTime,
  isIsoTime,
  Limit,
  linkedEntries,
  model,
  nullable,
  type Page,
  pageOf,
  seesSecrets,
  Uuid,
  visibleTo,
} from '../http/index.ts'
import { csvField, DAY, invalidRequest, isoTime } from '../lib/index.ts'
import type { Kysely, Store, Tables } from '../store/index.ts'
import { type Change, withoutPersonalFields } from './audit.ts'
import type { ManagementOptions } from './context.ts'

const CSV_STEP = 1_000

const ChangedFields = Type.Unsafe<Readonly<Record<string, unknown>> | null>({
  type: ['object', 'null'],
  additionalProperties: true,
})

export const AuditRecord = model('AuditEntry', {
  id: Type.Integer(),
  at: IsoTime,
  actor: Type.String({
    description:
      "A user's e-mail address, `token` and the name of an API token, `admin` for the key, or `anonymous` if no sign-in is required",
  }),
  action: Type.String({ description: 'Entity and verb, e.g. site.update' }),
  entity: Type.String(),
  entity_id: Uuid,
  entity_name: nullable(
    Type.String({
      description:
        'The present name of a user, an API token or a channel; null for anything else, or when it has none or is deleted',
    }),
  ),
  client_id: nullable(
    Type.String({
      ...Uuid,
      description: 'The client that it belongs to; null: the whole service, or not recorded at the time',
    }),
  ),
  before: ChangedFields,
  after: ChangedFields,
})
export type AuditRecord = Static<typeof AuditRecord>

const filters = {
  entity_id: Type.Optional(Type.String({ ...Uuid, description: 'Only changes of what has this id' })),
  client_id: Type.Optional(Type.String({ ...Uuid, description: 'Only changes of what belongs to this client' })),
  actor: Type.Optional(Type.String({ minLength: 1, maxLength: 254, description: 'The actor, as in the entries' })),
  from: Type.Optional(IsoTime),
  to: Type.Optional(Type.Unsafe<string>({ ...IsoTime, description: 'Exclusive' })),
}

const AuditQuery = Type.Object(
  {
    ...filters,
    before: Type.Optional(
      Type.String({ description: 'Only entries older than this one (its id) or than this time (ISO)' }),
    ),
    limit: Type.Optional(Limit),
  },
  { additionalProperties: false },
)
type AuditQuery = Static<typeof AuditQuery>

const AuditCsvQuery = Type.Object(filters, { additionalProperties: false })

/**
 * A page of the audit log, newest first. Callers who see only some clients get the changes of those.
 *
 * @throws AppError `invalid_request` when `before` is neither an id nor a time
 */
async function listAudit(
  { read }: Pick<Store, 'read'>,
  { entity_id, client_id, actor, from, to, before, limit = DEFAULT_PAGE }: AuditQuery,
  access: Access,
): Promise<Page<AuditRecord>> {
  const visible = visibleTo(access)
  let query = read
    .selectFrom('audit_log')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (visible !== null) query = query.where('client_id', 'in', visible)
  if (client_id !== undefined) query = query.where('client_id', '=', client_id)
  if (entity_id !== undefined) query = query.where('entity_id', '=', entity_id)
  if (actor !== undefined) query = query.where('actor', '=', actor)
  const { id, at } = positionOf(before)
  if (id !== undefined) query = query.where('id', '<', id)
  if (from !== undefined) query = query.where('at', '>=', Date.parse(from)).where('id', '>=', firstSince(read, from))
  for (const end of [to, at]) {
    if (end !== undefined) query = query.where('at', '<', Date.parse(end)).where('id', '<=', lastUntil(read, end))
  }
  const rows = await query.execute()
  const names = await presentNames(read, rows, visible)
  const records = rows.map(({ at, before: old, after, ...row }) => {
    const change: Change = { before: parsed(old), after: parsed(after) }
    const shown = seesSecrets(access, row.client_id) ? change : withoutPersonalFields(change)
    return { ...row, at: isoTime(at), entity_name: names.get(row.entity_id) ?? null, ...shown }
  })
  return pageOf(records, limit, ({ id }) => String(id))
}

/** Entities whose later entries do not contain their name, and that those who see an entry may not be able to list. */
const NAMED = { user: 'users', api_token: 'api_tokens', channel: 'client_channels' } as const

/**
 * Names by id, as they are now.
 *
 * @param visible of users, only those with a role for one of these clients; null: all
 */
async function presentNames(
  read: Kysely<Tables>,
  rows: readonly { entity: string; entity_id: string }[],
  visible: readonly string[] | null,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (const [entity, table] of Object.entries(NAMED)) {
    const ids = [...new Set(rows.filter((row) => row.entity === entity).map(({ entity_id }) => entity_id))]
    if (ids.length === 0) continue
    let query = read.selectFrom(table).select(['id', 'name']).where('id', 'in', ids)
    if (table === 'users' && visible !== null) {
      const members = read.selectFrom('user_roles').select('user_id').where('client_id', 'in', visible)
      query = query.where('id', 'in', members)
    }
    for (const { id, name } of await query.execute()) if (name !== '') names.set(id, name)
  }
  return names
}

// Ids follow time, except after a clock was set back. Bounding them lets the index by actor or client skip all other times.
const CLOCK_SLACK_MS = DAY

const firstSince = (read: Kysely<Tables>, time: string) =>
  read
    .selectFrom('audit_log')
    .select('id')
    .where('at', '>=', Date.parse(time) - CLOCK_SLACK_MS)
    .orderBy('at')
    .orderBy('id')
    .limit(1)

const lastUntil = (read: Kysely<Tables>, time: string) =>
  read
    .selectFrom('audit_log')
    .select('id')
    .where('at', '<', Date.parse(time) + CLOCK_SLACK_MS)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)

function positionOf(before: string | undefined): { id?: number; at?: string } {
  if (before === undefined) return {}
  if (/^\d{1,15}$/.test(before)) return { id: Number(before) }
  if (isIsoTime(before)) return { at: before }
  throw invalidRequest('/before', 'must be the id of an entry or an ISO 8601 time')
}

// We wrote the text, so it is an object.
const parsed = (json: string | null): Change['before'] => (json === null ? null : JSON.parse(json))

/** Page by page, so that neither the store nor memory holds everything at once. */
async function* csvLines(store: Pick<Store, 'read'>, query: AuditQuery, access: Access): AsyncGenerator<string[]> {
  yield ['at', 'actor', 'action', 'client_id', 'entity_id', 'before', 'after']
  let before: string | null = query.before ?? null
  for (;;) {
    const page: Page<AuditRecord> = await listAudit(
      store,
      { ...query, limit: CSV_STEP, ...(before === null ? {} : { before }) },
      access,
    )
    for (const entry of page.entries) {
      const { at, actor, action, client_id, entity_id } = entry
      yield [at, actor, action, client_id ?? '', entity_id, jsonOf(entry.before), jsonOf(entry.after)]
    }
    before = page.next
    if (before === null) return
  }
}

const jsonOf = (fields: Change['before']): string => (fields === null ? '' : JSON.stringify(fields))

const tags = ['Audit']

export function auditRoutes(app: HttpApp, { store }: ManagementOptions): void {
  app.get(
    '/api/audit',
    {
      config: { scope: 'visible' },
      schema: {
        tags,
        summary: 'List changes',
        description:
          'Who changed what, newest first, with the fields that changed; secrets are masked. ' +
          'A `Link` header with `rel="next"` leads to older entries.',
        querystring: AuditQuery,
        response: { 200: Type.Array(AuditRecord, { description: 'Newest first' }) },
      },
    },
    async (request, reply) => linkedEntries(request, reply, await listAudit(store, request.query, request.access)),
  )

  app.get(
    '/api/audit/export.csv',
    {
      config: { scope: 'visible', work: 'report' },
      schema: {
        tags,
        summary: 'List changes, as CSV',
        description: 'All entries that match the same filters, newest first.',
        querystring: AuditCsvQuery,
        response: {
          200: {
            description: 'CSV with a header line',
            content: { 'text/csv': { schema: Type.Unsafe<Readable>({ type: 'string' }) } },
          },
        },
      },
    },
    async ({ query, access }, reply) => {
      const { stringify } = await import('csv-stringify')
      reply.type('text/csv; charset=utf-8')
      reply.header('content-disposition', 'attachment; filename="audit.csv"')
      // Text that people typed must not become a formula where the file is opened.
      const lines = stringify({ escape_formulas: true, cast: { string: csvField } })
      const entries = Readable.from(csvLines(store, query, access)).on('error', (error) => lines.destroy(error))
      return reply.send(entries.pipe(lines))
    },
  )
}
