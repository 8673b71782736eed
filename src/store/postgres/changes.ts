import type { Kysely } from 'kysely'
import { Loop, systemClock } from '../../lib/index.ts'
import type { Change, ChangeFeed } from '../store.ts'
import { StoreError } from '../store.ts'
import type { Tables } from '../tables.ts'
import type { DatabaseClient } from './connection.ts'
import { storeErrorOf } from './errors.ts'
import type { Limits } from './limits.ts'

export const CHANNEL = 'tagwarden_changes'

interface ListenerOptions {
  /** Makes a connection of its own. */
  connect: () => Promise<DatabaseClient>
  log: ChangeLog
  feed: ChangeFeed
  limits: Pick<Limits, 'poll' | 'reconnect'>
  onError: (error: Error, what: string) => void
}

/**
 * Follows what other processes change: at once by a notification, at the latest by the next look into the log. The
 * notification only says that there is something to read, so one that is lost, or comes twice, does no harm.
 */
export class ChangeListener {
  readonly #options: ListenerOptions
  readonly #poll: Loop
  readonly #reconnect: Loop
  #client: DatabaseClient | undefined

  constructor(options: ListenerOptions) {
    this.#options = options
    const { log, feed, limits, onError } = options
    const loop = (name: string, intervalMs: number, tick: () => Promise<void>) =>
      new Loop({ name, clock: systemClock, intervalMs, tick, onError: onceInARow(onError) })
    this.#poll = loop('change-poll', limits.poll, () => log.read((change) => feed.deliver(change)))
    this.#reconnect = loop('change-listen', limits.reconnect, () => this.#listen())
  }

  /** Begins to follow; changes from before are the caller's to read. */
  async start(): Promise<void> {
    await this.#options.log.start()
    this.#poll.start()
    this.#reconnect.start()
    await this.#reconnect.tick()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#poll.stop(), this.#reconnect.stop()])
    this.#client?.drop()
  }

  async #listen(): Promise<void> {
    if (this.#client !== undefined) return
    const client = await this.#options.connect()
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    client.on('notification', () => void this.#poll.tick())
    this.#client = client
    try {
      await client.query(`listen ${CHANNEL}`)
    } catch (thrown) {
      this.#lost(client)
      throw storeErrorOf(thrown)
    }
    // Of what was changed while nothing listened no notification comes.
    void this.#poll.tick()
  }

  #lost(client: DatabaseClient): void {
    if (this.#client === client) this.#client = undefined
    client.drop()
  }
}

/** Reports an error that comes again and again only once, until another comes; none that comes of closing. */
function onceInARow(onError: ListenerOptions['onError']): ListenerOptions['onError'] {
  let last = ''
  return (error, what) => {
    if (error instanceof StoreError && error.kind === 'closed') return
    if (error.message !== last) onError(error, what)
    last = error.message
  }
}

/**
 * Ids are given out in one order and committed in another: one that is missing may still turn up. This far back it is looked
 * for; management makes nowhere near as many changes while one of its transactions runs.
 */
const LOOK_BACK = 1_000

/** What management changed, read from the audit log, whose rows are committed together with the changes. */
export class ChangeLog {
  readonly #db: Kysely<Tables>
  #highest = 0
  /** Ids below the highest whose change has not been delivered. Many never will: their transactions were undone. */
  readonly #missing = new Set<number>()

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Starts after everything that is committed now. @throws StoreError */
  async start(): Promise<void> {
    const newest = await this.#db.selectFrom('audit_log').select('id').orderBy('id', 'desc').limit(LOOK_BACK).execute()
    const ids = newest.map(({ id }) => id).reverse()
    this.#highest = (ids[0] ?? 1) - 1
    for (const id of ids) this.#delivered(id)
  }

  /**
   * Hands each change since the last call to `deliver`.
   *
   * @throws StoreError, or the first of what `deliver` throws when all have been handed over; the next call repeats those that
   * failed
   */
  async read(deliver: (change: Change) => Promise<void>): Promise<void> {
    const rows = await this.#db
      .selectFrom('audit_log')
      .select(['id', 'entity', 'entity_id'])
      .where(({ eb, or }) =>
        or([eb('id', '>', this.#highest), ...(this.#missing.size === 0 ? [] : [eb('id', 'in', [...this.#missing])])]),
      )
      .orderBy('id')
      .execute()
    const failures: unknown[] = []
    for (const { id, entity, entity_id } of rows) {
      try {
        if (entity === 'client' || entity === 'site') await deliver({ kind: entity, id: entity_id })
        this.#delivered(id)
      } catch (thrown) {
        failures.push(thrown)
        this.#seen(id)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  #delivered(id: number): void {
    this.#seen(id)
    this.#missing.delete(id)
  }

  /** From now on all up to this id that have not been delivered are missing, itself included. */
  #seen(id: number): void {
    if (id <= this.#highest) return
    for (let gap = Math.max(this.#highest + 1, id - LOOK_BACK); gap <= id; gap++) this.#missing.add(gap)
    this.#highest = id
    for (const gap of this.#missing) if (gap <= id - LOOK_BACK) this.#missing.delete(gap)
  }
}
