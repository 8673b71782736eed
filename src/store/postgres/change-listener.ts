import { Loop, systemClock } from '../../lib/index.ts'
import type { ChangeFeed } from '../changes.ts'
import { StoreError } from '../store.ts'
import type { ChangeLog } from './change-log.ts'
import type { DatabaseClient } from './database-client.ts'
import { storeErrorOf } from './errors.ts'
import type { Limits } from './limits.ts'

export const CHANNEL = 'tagwarden_changes'

export interface ListenerOptions {
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
