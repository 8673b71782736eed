import { type Static, Type } from 'typebox'
import {
  DEFAULT_PAGE,
  errorResponses,
  type HttpApp,
  IsoTime,
  isIsoTime,
  Limit,
  linkNextPage,
  type Page,
  pageOf,
  seesSecrets,
  Uuid,
} from '../http/index.ts'
import { invalidRequest, isoTime, maskedQuery } from '../lib/index.ts'
import { chunksOf, type Store, type Tables, type Transaction } from '../store/index.ts'
import type { Context, ManagementOptions } from './context.ts'

type Verb =
  | 'create'
  | 'update'
  | 'delete'
  | 'revoke'
  | 'add_key'
  | 'rotate_key'
  | 'update_key'
  | 'revoke_key'
  | 'new_address'
  | 'acknowledge'
  | 'unacknowledge'
  | 'resolve'
  | 'mark'
  | 'unmark'
  | 'note'
  | 'retry'
  | 'test_notification'

interface AuditEntry {
  entity:
    | 'client'
    | 'status_link'
    | 'status_page'
    | 'subscriber'
    | 'saved_view'
    | 'site'
    | 'special_days'
    | 'annotation'
    | 'reference_counts'
    | 'tag_vendor'
    | 'probe'
    | 'alert'
    | 'incident'
    | 'silence'
    | 'maintenance'
    | 'delivery'
    | 'channel'
    | 'on_call'
    | 'on_call_override'
  verb: Verb
  id: string
  /** API records; null before a creation and after a deletion. */
  before: Fields | null
  after: Fields | null
}

/** Writes who changed what, in the transaction of the change: there is never one without the other. */
export async function writeAudit(
  trx: Transaction<Tables>,
  { clock, actor }: Pick<Context, 'clock' | 'actor'>,
  entries: readonly AuditEntry[],
): Promise<void> {
  const at = clock.now()
  const rows = entries.map(({ entity, verb, id, before, after }) => {
    const change = auditedChange(before, after)
    return {
      at,
      actor,
      action: `${entity}.${verb}`,
      entity,
      entity_id: id,
      before: change.before && JSON.stringify(change.before),
      after: change.after && JSON.stringify(change.after),
    }
  })
  for (const chunk of chunksOf(rows)) await trx.insertInto('audit_log').values(chunk).execute()
}

export type Fields = Readonly<Record<string, unknown>>

interface Change {
  before: Fields | null
  after: Fields | null
}

/**
 * What the audit log keeps of a change: of an update the fields that differ, of a creation or deletion those that hold
 * something; secrets masked.
 */
export function auditedChange(before: Fields | null, after: Fields | null): Change {
  return {
    before: before && maskSecrets(after === null ? held(before) : changedFields(after, before)),
    after: after && maskSecrets(before === null ? held(after) : changedFields(before, after)),
  }
}

/** A change as a viewer may see it. */
export const withoutPersonalFields = ({ before, after }: Change): Change => ({
  before: before && blank(before),
  after: after && blank(after),
})

const held = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

/** Anyone who knows one of these can use it. */
const SECRETS = ['ingest_key', 'token']

function maskSecrets(fields: Fields): Fields {
  const masked: Record<string, unknown> = { ...fields }
  for (const name of SECRETS) if (typeof masked[name] === 'string') masked[name] = '…'
  if (typeof masked.chat_webhook === 'string') masked.chat_webhook = maskedUrl(masked.chat_webhook)
  return masked
}

/** Chat services put the secret into the path; which service it was may be known. */
export function maskedUrl(text: string): string {
  const url = URL.parse(text)
  return url === null ? '…' : `${url.protocol}//${url.host}/…`
}

const HIDDEN_FROM_VIEWERS = ['ingest_key', 'chat_webhook', 'email', 'address']
/** Addresses whose queries may hold keys. */
const CUT_FOR_VIEWERS = ['url', 'tag_server_url']

const blank = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (HIDDEN_FROM_VIEWERS.includes(name)) return [name, null]
      return [name, CUT_FOR_VIEWERS.includes(name) && typeof value === 'string' ? maskedQuery(value) : value]
    }),
  )

/** The fields of `after` that differ from `before`, with their values in `after`. */
export function changedFields<T extends object>(before: T, after: T): Partial<T> {
  const changed: Partial<T> = {}
  for (const key in after) {
    if (before[key] !== after[key]) changed[key] = after[key]
  }
  return changed
}

const ChangedFields = Type.Unsafe<Readonly<Record<string, unknown>> | null>({
  type: ['object', 'null'],
  additionalProperties: true,
})

export const AuditRecord = Type.Object({
  id: Type.Integer(),
  at: IsoTime,
  actor: Type.String({ description: 'admin, or anonymous while no key is set up' }),
  action: Type.String({ description: 'Entity and verb, e.g. site.update' }),
  entity: Type.String(),
  entity_id: Uuid,
  before: ChangedFields,
  after: ChangedFields,
})
export type AuditRecord = Static<typeof AuditRecord>

const AuditQuery = Type.Object(
  {
    entity_id: Type.Optional(Uuid),
    before: Type.Optional(
      Type.String({ description: 'Only entries older than this one (its id) or than this time (ISO)' }),
    ),
    limit: Type.Optional(Limit),
  },
  { additionalProperties: false },
)
type AuditQuery = Static<typeof AuditQuery>

/**
 * A page of the audit log, newest first.
 *
 * @throws AppError `invalid_request` when `before` is neither an id nor a time.
 */
async function listAudit(
  { read }: Pick<Store, 'read'>,
  { entity_id, before, limit = DEFAULT_PAGE }: AuditQuery,
  seesSecrets: boolean,
): Promise<Page<AuditRecord>> {
  let query = read
    .selectFrom('audit_log')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (entity_id !== undefined) query = query.where('entity_id', '=', entity_id)
  if (before !== undefined) {
    const { column, value } = positionOf(before)
    query = query.where(column, '<', value)
  }
  const rows = await query.execute()
  const records = rows.map(({ at, before: old, after, ...row }) => {
    const change: Change = { before: parsed(old), after: parsed(after) }
    return { ...row, at: isoTime(at), ...(seesSecrets ? change : withoutPersonalFields(change)) }
  })
  return pageOf(records, limit, ({ id }) => String(id))
}

function positionOf(before: string): { column: 'id' | 'at'; value: number } {
  if (/^\d{1,15}$/.test(before)) return { column: 'id', value: Number(before) }
  if (isIsoTime(before)) return { column: 'at', value: Date.parse(before) }
  throw invalidRequest('/before', 'must be the id of an entry or an ISO 8601 time')
}

// Our own writer made the text, so it is an object.
const parsed = (json: string | null): Change['before'] => (json === null ? null : JSON.parse(json))

export function auditRoutes(app: HttpApp, { store }: ManagementOptions): void {
  app.get(
    '/api/audit',
    {
      schema: {
        tags: ['Audit'],
        summary: 'List changes',
        description:
          'Who changed what, newest first, with the fields that changed; secrets are masked. ' +
          'A `Link` header with `rel="next"` leads to older entries.',
        querystring: AuditQuery,
        response: { 200: Type.Array(AuditRecord, { description: 'Newest first' }), ...errorResponses(400) },
      },
    },
    async (request, reply) => {
      const page = await listAudit(store, request.query, seesSecrets(request.access))
      linkNextPage(request, reply, page.next)
      return page.entries
    },
  )
}
