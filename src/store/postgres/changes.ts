import type { Kysely, Selectable } from 'kysely'
import { Loop, systemClock } from '../../lib/index.ts'
import type { Change, ChangeFeed } from '../store.ts'
import { StoreError } from '../store.ts'
import type { Tables } from '../tables.ts'
import type { DatabaseClient } from './connection.ts'
import { storeErrorOf } from './errors.ts'
import type { Limits } from './limits.ts'

export const CHANNEL = 'tagwarden_changes'

interface ListenerOptions {
  /** Opens a separate connection. */
  connect: () => Promise<DatabaseClient>
  log: ChangeLog
  feed: ChangeFeed
  limits: Pick<Limits, 'poll' | 'reconnect' | 'current'>
  onError: (error: Error, what: string) => void
}

/**
 * Follows changes by other processes: immediately through a notification, at the latest when the log is next polled. A
 * notification only says that there is something to read, so a lost or repeated one does no harm.
 */
export class ChangeListener {
  readonly #options: ListenerOptions
  readonly #poll: Loop
  readonly #reconnect: Loop
  #client: DatabaseClient | undefined
  /** When the last successful read began, by `performance.now()`; undefined before following, and once a read has failed. */
  #readAt: number | undefined
  #hasStarted = false

  constructor(options: ListenerOptions) {
    this.#options = options
    const { limits, onError } = options
    const loop = (name: string, intervalMs: number, tick: () => Promise<void>) =>
      new Loop({ name, clock: systemClock, intervalMs, tick, onError: onceInARow(onError) })
    this.#poll = loop('change-poll', limits.poll, () => this.#read())
    this.#reconnect = loop('change-listen', limits.reconnect, () => this.#listen())
  }

  /** Starts following. The caller has to read what was changed before. */
  async start(): Promise<void> {
    this.#readAt = performance.now()
    await this.#options.log.start()
    this.#hasStarted = true
    this.#poll.start()
    this.#reconnect.start()
    await this.#reconnect.tick()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#poll.stop(), this.#reconnect.stop()])
    this.#client?.drop()
  }

  /**
   * False when the last read failed, or none has succeeded for longer than it ever takes. Nothing is missing before following
   * begins: its caller reads everything after that.
   */
  get isCurrent(): boolean {
    if (!this.#hasStarted) return true
    return this.#readAt !== undefined && performance.now() - this.#readAt < this.#options.limits.current
  }

  async #read(): Promise<void> {
    const { log, feed } = this.#options
    const began = performance.now()
    try {
      await log.read((change) => feed.deliver(change))
      this.#readAt = began
    } catch (thrown) {
      this.#readAt = undefined
      throw thrown
    }
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
    // No notification comes for changes made while nothing was listening.
    void this.#poll.tick()
  }

  #lost(client: DatabaseClient): void {
    if (this.#client === client) this.#client = undefined
    client.drop()
  }
}

/** Reports a repeated error only once, until another occurs, and none that is caused by closing. */
function onceInARow(onError: ListenerOptions['onError']): ListenerOptions['onError'] {
  let last = ''
  return (error, what) => {
    if (error instanceof StoreError && error.kind === 'closed') return
    if (error.message !== last) onError(error, what)
    last = error.message
  }
}

/**
 * How far back to look for missing ids: ids are assigned in one order and committed in another, so a missing one may still
 * appear. Management makes nowhere near this many changes while one of its transactions runs.
 */
const LOOK_BACK = 1_000

/** The columns that tell an entry from another one which got its id after a restore. */
const ENTRY = ['id', 'at', 'entity', 'entity_id'] as const
type Entry = Pick<Selectable<Tables['audit_log']>, (typeof ENTRY)[number]>

/**
 * Reads management's changes from the audit log, whose rows are committed together with the changes. When the newest entry seen
 * is no longer there, the database went back under the running process, as by a restore or a failover that lost commits: ids are
 * then given out again, and anything may have changed.
 */
export class ChangeLog {
  readonly #db: Kysely<Tables>
  #highest = 0
  /** The entry of the highest id; undefined while the log has none. */
  #newest: Entry | undefined
  /** It went back, and the listeners have not read everything again. */
  #wentBack = false
  /** Ids below the highest whose change was not delivered. Many never will be: their transactions were rolled back. */
  readonly #missing = new Set<number>()

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Starts after everything committed so far. @throws StoreError */
  async start(): Promise<void> {
    const newest = await this.#db.selectFrom('audit_log').select(ENTRY).orderBy('id', 'desc').limit(LOOK_BACK).execute()
    const ids = newest.map(({ id }) => id).reverse()
    this.#newest = newest[0]
    this.#missing.clear()
    this.#highest = (ids[0] ?? 1) - 1
    for (const id of ids) this.#delivered(id)
  }

  /**
   * Passes each change since the last call to `deliver`.
   *
   * @throws StoreError, or the first error of `deliver` after all changes were passed on; the next call repeats those that failed
   */
  async read(deliver: (change: Change) => Promise<void>): Promise<void> {
    let rows = await this.#entries()
    const newest = this.#newest
    if (newest !== undefined && !rows.some((row) => isSame(row, newest))) {
      this.#wentBack = true
      await this.start()
      rows = []
    }
    if (this.#wentBack) {
      await deliver({ kind: 'all', id: '*' })
      this.#wentBack = false
    }
    this.#newest = rows.at(-1) ?? this.#newest
    const failures: unknown[] = []
    for (const { id, entity, entity_id } of rows) {
      if (id <= this.#highest && !this.#missing.has(id)) continue
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

  /** The newest entry seen, those after it, and missing ones that have come. */
  #entries(): Promise<Entry[]> {
    return this.#db
      .selectFrom('audit_log')
      .select(ENTRY)
      .where(({ eb, or }) =>
        or([eb('id', '>=', this.#highest), ...(this.#missing.size === 0 ? [] : [eb('id', 'in', [...this.#missing])])]),
      )
      .orderBy('id')
      .execute()
  }

  #delivered(id: number): void {
    this.#seen(id)
    this.#missing.delete(id)
  }

  /** Adds all undelivered ids up to this one, including itself, to the missing ones. */
  #seen(id: number): void {
    if (id <= this.#highest) return
    for (let gap = Math.max(this.#highest + 1, id - LOOK_BACK); gap <= id; gap++) this.#missing.add(gap)
    this.#highest = id
    for (const gap of this.#missing) if (gap <= id - LOOK_BACK) this.#missing.delete(gap)
  }
}

const isSame = (one: Entry, other: Entry): boolean =>
  one.id === other.id && one.at === other.at && one.entity_id === other.entity_id
