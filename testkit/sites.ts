import { newId, newSecret } from '../src/lib/index.ts'
import { BLANK_SITE as BLANK } from '../src/management/sites.ts'
import type { ClientRow, SiteRow, Store } from '../src/store/index.ts'

/** Neutral values for a site's fields. */
export const BLANK_SITE = { ...BLANK, created_at: 0 }

/** Without nulls, which are the columns' defaults, so that a store of an earlier version without the newest columns accepts the row, too. */
const WRITTEN = Object.fromEntries(
  Object.entries(BLANK_SITE).filter(([, value]) => value !== null),
) as typeof BLANK_SITE

/** Writes a client straight into the store; `over` replaces fields. */
export async function insertClient(store: Store, over: Partial<ClientRow> = {}): Promise<ClientRow> {
  return store.write
    .insertInto('clients')
    .values({ ...newClientRow(), ...over })
    .returningAll()
    .executeTakeFirstOrThrow()
}

const newClientRow = () => ({
  id: newId(),
  name: 'Acme',
  email: null,
  chat_webhook: null,
  is_active: 1,
  plan: 'enterprise',
  requests_per_second: null,
  events_per_month: null,
  reminder_minutes: null,
  created_at: 0,
})

/** Writes a site straight into the store, and its client if it does not exist; `over` replaces fields of the site. */
export async function insertSite(store: Store, over: Partial<SiteRow> = {}): Promise<SiteRow> {
  const client = newClientRow()
  const clientId = over.client_id ?? client.id
  await store.write
    .insertInto('clients')
    .values({ ...client, id: clientId })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
  return store.write
    .insertInto('sites')
    .values({
      id: newId(),
      client_id: clientId,
      name: 'shop',
      url: 'https://shop.example',
      ingest_key: newSecret(),
      ...WRITTEN,
      ...over,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Records that a site sent an event at this time, as folding an event does. */
export async function hearFrom(store: Store, siteId: string, at: number, container_id = 'GTM-TEST'): Promise<void> {
  const { site_no } = await store.write
    .selectFrom('sites')
    .select('site_no')
    .where('id', '=', siteId)
    .executeTakeFirstOrThrow()
  await store.write.insertInto('site_containers').values({ site_no, container_id, last_seen_at: at }).execute()
}

/** Records that the site was paused and resumed at these times (epoch ms), as only the audit log does. */
export async function insertPause(
  store: Store,
  { id, client_id }: Pick<SiteRow, 'id' | 'client_id'>,
  from: number,
  to: number,
): Promise<void> {
  const change = (at: number, is_active: boolean) => ({
    ...{ at, actor: 'test', action: 'site.update', entity: 'site', entity_id: id, client_id, before: null },
    after: JSON.stringify({ is_active }),
  })
  await store.write
    .insertInto('audit_log')
    .values([change(from, false), change(to, true)])
    .execute()
}
