import { Temporal } from 'temporal-polyfill'
import { JobRunner, type Leases } from '../cluster/index.ts'
import { attemptAll, DAY, HOUR, MINUTE } from '../lib/index.ts'
import { type DeletionHooks, digestOf } from '../management/index.ts'
import type { Store } from '../store/index.ts'
import {
  type DigestContext,
  type DigestKind,
  type DueDigest,
  type DuePeriod,
  SAME_MS,
  writeDigest,
} from './write-digest.ts'

/** Longer than any period can still be due. */
const KEPT_MS = 60 * DAY

export interface DigestsOptions extends DigestContext {
  leases: Leases
  /** Without e-mail no digest can be sent, and no job is started. */
  isEmailOn: boolean
  onError: (error: Error, loop: string) => void
}

/** Writes each client's daily or weekly digest when it is due. */
export class Digests extends JobRunner {
  readonly deletionHooks: Pick<DeletionHooks, 'removeOfClient'> = {
    removeOfClient: async (trx, clientId) => {
      await trx.deleteFrom('digests').where('client_id', '=', clientId).execute()
    },
  }
  readonly #context: DigestContext

  constructor({ store, clock, retention, leases, isEmailOn, onError }: DigestsOptions) {
    super({ clock, leases, onError })
    this.#context = { store, clock, retention }
    if (!isEmailOn) return
    this.jobs
      .onOneNode('digests', MINUTE, (shouldContinue) => this.#writeDue(shouldContinue))
      .deletingByAge('digest-retention', HOUR, (now) => this.#clear(now))
  }

  /** @throws AggregateError of the failures, after writing all others. */
  async #writeDue(shouldContinue: () => boolean): Promise<void> {
    const { store, clock } = this.#context
    await attemptAll(
      await dueDigests(store, clock.now()),
      shouldContinue,
      (due) => writeDigest(this.#context, due),
      (count) => `${count === 1 ? '1 digest' : `${count} digests`} could not be written`,
    )
  }

  async #clear(now: number): Promise<void> {
    await this.#context.store.write
      .deleteFrom('digests')
      .where('written_at', '<', now - KEPT_MS)
      .execute()
  }
}

/** The period that is due never ended longer ago than this. */
const LOOK_BACK_MS = 9 * DAY

/**
 * The digests that are due and not done yet, for active clients with an e-mail address. Their days are those of the client's
 * oldest active site; a client without one has nothing to report on.
 */
export async function dueDigests({ read }: Pick<Store, 'read'>, now: number): Promise<DueDigest[]> {
  const clients = await read
    .selectFrom('clients')
    .select(['clients.id', 'clients.digest'])
    .select((eb) =>
      eb
        .selectFrom('sites')
        .select('sites.timezone')
        .whereRef('sites.client_id', '=', 'clients.id')
        .where('sites.is_active', '=', 1)
        .orderBy('sites.created_at')
        .orderBy('sites.site_no')
        .limit(1)
        .as('timezone'),
    )
    .where('clients.is_active', '=', 1)
    .where('clients.digest', '<>', 'off')
    .where('clients.email', 'is not', null)
    .orderBy('clients.id')
    .execute()
  if (clients.length === 0) return []
  const rows = await read
    .selectFrom('digests')
    .select(['client_id', 'period_end'])
    .where('period_end', '>', now - LOOK_BACK_MS)
    .execute()
  const ends = Map.groupBy(rows, ({ client_id }) => client_id)
  const periods = new Map<string, DuePeriod>()
  return clients.flatMap((client): DueDigest[] => {
    const { id, timezone } = client
    const kind = digestOf(client)
    if (kind === 'off' || timezone === null) return []
    const key = `${kind} ${timezone}`
    const period = periods.get(key) ?? duePeriod(kind, timezone, now)
    periods.set(key, period)
    const isDone = ends.get(id)?.some(({ period_end }) => Math.abs(period_end - period.to) < SAME_MS) ?? false
    return isDone ? [] : [{ clientId: id, kind, timezone, period }]
  })
}

/** When people start work, and late enough for the last events of the night to be counted. */
const DUE_TIME = Temporal.PlainTime.from('07:00')

/**
 * The latest period whose digest is due, in local time. A daily one covers the day before and is due at 07:00; a weekly one
 * covers Monday to Sunday and is due at 07:00 on the Monday after.
 */
export function duePeriod(kind: DigestKind, timezone: string, now: number): DuePeriod {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate()
  const isDaily = kind === 'daily'
  const end = isDaily ? today : today.subtract({ days: today.dayOfWeek - 1 })
  let due: Omit<DuePeriod, 'before'> | undefined
  for (const { dueAt, ...period } of periodsBefore(end, isDaily ? 1 : 7, timezone)) {
    if (due !== undefined) return { ...due, before: period }
    if (dueAt <= now) due = { ...period, dueAt }
  }
  throw new Error('there is always an earlier period')
}

/** Periods of `days` days, latest first: the first one ends at the start of `end`, each other one where its successor begins. */
function* periodsBefore(
  end: Temporal.PlainDate,
  days: number,
  timezone: string,
): Generator<Omit<DuePeriod, 'before'>, never> {
  for (let date = end; ; date = date.subtract({ days })) {
    const from = date.subtract({ days }).toZonedDateTime(timezone).epochMilliseconds
    const to = date.toZonedDateTime(timezone).epochMilliseconds
    const dueAt = date.toZonedDateTime({ timeZone: timezone, plainTime: DUE_TIME }).epochMilliseconds
    // A day that a zone skipped, as Samoa did when it crossed the date line, has nothing to report on.
    if (from < to) yield { from, to, dueAt }
  }
}
