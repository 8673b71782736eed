import { MINUTE } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import { FORGOTTEN, type OpenSubscriber, REFUSED } from './subscribers.ts'

/** E-mails of a page that ask to confirm, in `ASKING_MS`: anyone can cause them to strangers. */
const MOST_ASKED = 10
const ASKING_MS = 10 * MINUTE

/**
 * Returns those of the subscribers who may get e-mail in this round. Of those to ask for confirmation these are few for each page,
 * the latest first: a visitor who comes after a flood of invented addresses is asked before them.
 */
export async function withinAskingLimit(
  { read }: Pick<Store, 'read'>,
  open: readonly OpenSubscriber[],
  now: number,
): Promise<OpenSubscriber[]> {
  const asking = open.filter(({ confirmed_at }) => confirmed_at === null)
  if (asking.length === 0) return [...open]
  const from = now - ASKING_MS + 1
  const rows = await read
    .selectFrom('status_subscribers')
    .select(['client_id', ({ fn }) => fn.countAll<number>().as('count')])
    // `asked_at` of forgotten ones is not when they were asked; those that the server refused were asked soon after they came.
    // What lies further ahead was written before the clock was set back.
    .where(({ or, and, eb, between }) =>
      or([
        and([eb('email', 'not like', `${FORGOTTEN}%`), between('asked_at', from, now + ASKING_MS)]),
        and([eb('email', 'like', `${REFUSED}%`), between('created_at', from, now + ASKING_MS)]),
      ]),
    )
    .groupBy('client_id')
    .execute()
  const asked = new Map(rows.map(({ client_id, count }) => [client_id, Number(count)]))
  const chosen = new Set<string>()
  for (const { id, client_id } of asking.toSorted((a, b) => (a.id < b.id ? 1 : -1))) {
    const count = asked.get(client_id) ?? 0
    if (count >= MOST_ASKED) continue
    asked.set(client_id, count + 1)
    chosen.add(id)
  }
  return open.filter(({ id, confirmed_at }) => confirmed_at !== null || chosen.has(id))
}
