import { sql } from 'kysely'
import { isoTime, newOrderedId } from '../../lib/index.ts'
import type { SilenceRow, Tables, Transaction } from '../../store/index.ts'
import { isWithin } from './within.ts'

/** Writes into the timelines of the unresolved alerts within a silence that it began, or was taken away. */
export async function noteInTimelines(
  trx: Transaction<Tables>,
  silence: SilenceRow,
  kind: 'silenced' | 'unsilenced',
  actor: string,
  now: number,
): Promise<void> {
  const text = kind === 'silenced' ? textOf(silence) : 'The silence was ended'
  await trx
    .insertInto('alert_events')
    .columns(['alert_id', 'id', 'at', 'kind', 'actor', 'text'])
    .expression((eb) =>
      eb
        .selectFrom('alerts')
        .select('alerts.id as alert_id')
        // In a list of columns PostgreSQL takes parameters for text.
        .select([
          sql<string>`${newOrderedId(now)}`.as('id'),
          sql<number>`cast(${now} as bigint)`.as('at'),
          sql<string>`${kind}`.as('kind'),
          sql<string>`${actor}`.as('actor'),
          sql<string>`${text}`.as('text'),
        ])
        .where(isWithin(silence)),
    )
    .execute()
}

function textOf({ until_resolved, starts_at, ends_at, created_at, comment }: SilenceRow): string {
  const from = starts_at > created_at ? ` from ${isoTime(starts_at)}` : ''
  const until = until_resolved === 1 ? 'until it is resolved' : `until ${isoTime(ends_at)}`
  return `Silenced${from} ${until}${comment === null ? '' : `: ${comment}`}`
}
