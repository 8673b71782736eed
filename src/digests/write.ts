import type { ReportContext } from '../analytics/index.ts'
import { HOUR } from '../lib/index.ts'
import { lockClient } from '../management/index.ts'
import { type DigestMessage, enqueue } from '../notifications/index.ts'
import type { Store } from '../store/index.ts'
import { alertsOf } from './alerts.ts'
import type { DueDigest } from './due-clients.ts'
import { siteDigest } from './site.ts'

/** What a digest is read from and written to. */
export interface DigestContext extends ReportContext {
  store: Store
}

/** The morning's digest is no use in the evening, nor are several at once after days of standstill. */
const TOO_LATE_MS = 12 * HOUR

type Content = Pick<DigestMessage, 'sites' | 'alerts'>

/**
 * Puts a digest into the outbox and notes that it is done, in one transaction: however many nodes do it, and whenever one
 * crashes, there is one. A digest that comes too late, or covers a time before the client had a site, is only noted.
 */
export async function writeDigest(context: DigestContext, due: DueDigest): Promise<void> {
  const { store, clock } = context
  const { clientId, kind, timezone, period } = due
  const content = clock.now() - period.dueAt < TOO_LATE_MS ? await contentOf(context, due) : null
  await store.write.transaction().execute(async (trx) => {
    const now = clock.now()
    const client = await lockClient(trx, clientId)
    if (client?.is_active !== 1 || client.email === null || client.digest === 'off') return
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('digests')
      .values({ client_id: clientId, period_end: period.to, written_at: now })
      .onConflict((conflict) => conflict.columns(['client_id', 'period_end']).doNothing())
      .executeTakeFirstOrThrow()
    if (content === null || numInsertedOrUpdatedRows !== 1n) return
    const message: DigestMessage = {
      kind: 'digest',
      client: { id: client.id, name: client.name },
      period: kind,
      from: period.from,
      to: period.to,
      timezone,
      ...content,
    }
    const channel = { key: `email:${client.id}`, address: client.email } as const
    await enqueue(trx, [{ channel, clientId, alertId: null, message }], now)
  })
}

/** Null when the client had no active site in the period. */
async function contentOf(context: DigestContext, { clientId, period }: DueDigest): Promise<Content | null> {
  const sites = await context.store.read
    .selectFrom('sites')
    .selectAll()
    .where('client_id', '=', clientId)
    .where('is_active', '=', 1)
    .where('created_at', '<', period.to)
    .orderBy('created_at')
    .orderBy('site_no')
    .execute()
  if (sites.length === 0) return null
  const digests: Content['sites'][number][] = []
  for (const site of sites) digests.push(await siteDigest(context, site, period))
  return { sites: digests, alerts: await alertsOf(context.store, clientId, period) }
}
