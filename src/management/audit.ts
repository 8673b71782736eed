import { maskedIfAddress } from '../lib/index.ts'
import { chunksOf, type Store, type Tables, type Transaction, untilDone } from '../store/index.ts'
import type { Context } from './context.ts'
import { claimKey } from './create-keys.ts'

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
    | 'user'
    | 'api_token'
    | 'status_link'
    | 'status_page'
    | 'subscriber'
    | 'digest_opt_out'
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
  /** The client concerned, where neither the id nor the record tells; null for the whole service. */
  clientId?: string | null
  /** API records; null before a creation and after a deletion. */
  before: Fields | null
  after: Fields | null
}

/** Writes who changed what, in the transaction of the change, so that there is never one without the other. */
export async function writeAudit(
  trx: Transaction<Tables>,
  { clock, actor, keyedCreate }: Pick<Context, 'clock' | 'actor' | 'keyedCreate'>,
  entries: readonly AuditEntry[],
): Promise<void> {
  const at = clock.now()
  const rows = []
  for (const entry of entries) {
    const { entity, verb, id } = entry
    const { before, after } = auditedChange(entry.before, entry.after)
    rows.push({
      at,
      actor,
      action: `${entity}.${verb}`,
      entity,
      entity_id: id,
      before: before && JSON.stringify(before),
      after: after && JSON.stringify(after),
      client_id: await clientOfChange(trx, entry),
    })
  }
  const [first] = rows
  if (keyedCreate !== undefined && first !== undefined) await claimKey(trx, keyedCreate, first)
  for (const chunk of chunksOf(rows)) await trx.insertInto('audit_log').values(chunk).execute()
}

export type Fields = Readonly<Record<string, unknown>>

export interface Change {
  before: Fields | null
  after: Fields | null
}

/**
 * What the audit log keeps of a change, with secrets masked: for an update the fields that differ, for a creation or deletion the
 * fields that are not null.
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

/** Fields that anyone who knows them can use. */
const SECRETS = ['ingest_key', 'token']

function maskSecrets(fields: Fields): Fields {
  const masked: Record<string, unknown> = { ...fields }
  for (const name of SECRETS) if (typeof masked[name] === 'string') masked[name] = '…'
  if (typeof masked.chat_webhook === 'string') masked.chat_webhook = maskedUrl(masked.chat_webhook)
  return masked
}

/** Chat services put the secret into the path; the host may be shown. */
export function maskedUrl(text: string): string {
  const url = URL.parse(text)
  return url === null ? '…' : `${url.protocol}//${url.host}/…`
}

const HIDDEN_FROM_VIEWERS = ['ingest_key', 'chat_webhook', 'email', 'address', 'endpoint']
/** Addresses whose queries may contain keys; probes' settings may be addresses too. */
const CUT_FOR_VIEWERS = ['url', 'tag_server_url']

const blank = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (HIDDEN_FROM_VIEWERS.includes(name)) return [name, null]
      return [name, CUT_FOR_VIEWERS.includes(name) || name.startsWith('config.') ? maskedIfAddress(value) : value]
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

/** A change before its secrets are masked. */
interface Changed {
  entity: string
  id: string
  /** Set where neither the id nor the record tells. */
  clientId?: string | null
  before: Readonly<Record<string, unknown>> | null
  after: Readonly<Record<string, unknown>> | null
}

/** Entities whose `id` is their client's. */
const OF_CLIENT: readonly string[] = ['client', 'status_link', 'status_page']
/** Entities whose `id` is their site's. */
const OF_SITE: readonly string[] = ['site', 'reference_counts', 'tag_vendor']

/**
 * The client that a change is about; null for the whole service. Taken from the entry itself where possible, since deleted rows
 * are gone by now, otherwise from the rows that it names.
 */
export async function clientOfChange(trx: Transaction<Tables>, entry: Changed): Promise<string | null> {
  const { entity, id } = entry
  if (entry.clientId !== undefined) return entry.clientId
  if (OF_CLIENT.includes(entity)) return id
  if (entity === 'user') return onlyClientOf(trx, id)
  const named = (field: string): string | null => {
    const value = entry.after?.[field] ?? entry.before?.[field]
    return typeof value === 'string' ? value : null
  }
  const clientId = named('client_id')
  if (clientId !== null) return clientId
  const siteId = OF_SITE.includes(entity) ? id : (named('site_id') ?? (await siteOfProbe(trx, named('probe_id'))))
  if (siteId !== null) return clientOf(trx, 'sites', siteId)
  const incidentId = entity === 'incident' ? id : named('incident_id')
  if (incidentId !== null) return clientOf(trx, 'incidents', incidentId)
  if (entity === 'alert') return clientOf(trx, 'alerts', id)
  return entity === 'delivery' ? clientOf(trx, 'deliveries', id) : null
}

/** The client whose people an account belongs to; null when it has no role, or roles for several clients or for all. */
export async function onlyClientOf(trx: Transaction<Tables>, userId: string): Promise<string | null> {
  const byGroups = trx
    .selectFrom('user_identities')
    .innerJoin('identity_roles', 'identity_roles.identity_id', 'user_identities.id')
    .select('identity_roles.client_id')
    .where('user_identities.user_id', '=', userId)
  const byHand = trx.selectFrom('user_roles').select('client_id').where('user_id', '=', userId)
  const [first, ...others] = await byHand.union(byGroups).execute()
  return first === undefined || first.client_id === 'all' || others.length > 0 ? null : first.client_id
}

async function siteOfProbe(trx: Transaction<Tables>, probeId: string | null): Promise<string | null> {
  if (probeId === null) return null
  const probe = await trx.selectFrom('probes').select('site_id').where('id', '=', probeId).executeTakeFirst()
  return probe?.site_id ?? null
}

async function clientOf(
  trx: Transaction<Tables>,
  table: 'sites' | 'incidents' | 'alerts' | 'deliveries',
  id: string,
): Promise<string | null> {
  const row = await trx.selectFrom(table).select('client_id').where('id', '=', id).executeTakeFirst()
  return row?.client_id ?? null
}

/** Rows deleted in one transaction: a few milliseconds of the writer's time. */
const ROWS_PER_STEP = 500

/** Deletes older entries, in small steps. @param before epoch ms */
export async function clearAudit(
  { read, write }: Pick<Store, 'read' | 'write'>,
  before: number,
  shouldContinue: () => boolean,
): Promise<void> {
  await untilDone(async () => {
    const old = await read
      .selectFrom('audit_log')
      .select('at')
      .where('at', '<', before)
      .orderBy('at')
      .limit(ROWS_PER_STEP)
      .execute()
    const last = old.at(-1)
    if (last === undefined) return false
    await write.deleteFrom('audit_log').where('at', '<=', last.at).execute()
    return old.length === ROWS_PER_STEP
  }, shouldContinue)
}
