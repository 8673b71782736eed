import { Loop, SECOND, systemClock } from '../../lib/index.ts'
import type { DatabaseClient } from './connection.ts'
import type { Limits } from './limits.ts'
import { type ConnectionPool, SERVER_START } from './pool.ts'

const LOOK_INTERVAL_MS = SECOND
/** How long a session must have been idle, by the server's clock: by then an answer under way has arrived. */
const AT_REST = "interval '1 second'"

export interface LostSessionsOptions {
  /** Pools of one server. */
  pools: readonly ConnectionPool[]
  limits: Pick<Limits, 'connect' | 'suspicion'>
}

/**
 * Finds connections that lost a query or an answer, as when a cable was pulled or a firewall dropped them: neither side notices,
 * and each would block its caller for as long as a statement may take. So when a statement has had no answer for a while, a new
 * connection asks the server whether it still works on it. An idle session will send nothing more, and its connection is dropped.
 * So is that of a report's session that waits for our next message at two looks: its state is not idle between two portions.
 * The session is ended as well: in the middle of a transaction it would hold its locks until its own time limit. Sessions of
 * connections that were dropped for their silence are also ended.
 *
 * In normal operation this sends no query. Behind a pooler such as PgBouncer, which numbers sessions itself, it finds nothing,
 * and the time limits remain.
 */
export class LostSessions {
  readonly #options: LostSessionsOptions
  readonly #loop: Loop
  #client: DatabaseClient | undefined
  /** Sessions that waited for our next message at the last look. */
  #waiting: ReadonlySet<string> = new Set()

  constructor(options: LostSessionsOptions) {
    this.#options = options
    this.#loop = new Loop({
      name: 'lost-sessions',
      clock: systemClock,
      intervalMs: LOOK_INTERVAL_MS,
      tick: () => this.#look(),
      onError: () => undefined, // The server is still unavailable, which all others report.
    })
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    const stopped = this.#loop.stop()
    this.#client?.drop()
    await stopped
  }

  async #look(): Promise<void> {
    const { pools } = this.#options
    const abandoned = pools.flatMap((pool) => [...pool.abandoned])
    const before = this.#waiting
    this.#waiting = new Set()
    if (abandoned.length === 0 && this.#silent().length === 0) return
    const client = await pools[0]?.connectApart()
    if (client === undefined) return
    this.#client = client
    try {
      const silent = this.#silent().map(({ session }) => session)
      const waiting = await this.#waitingSessions(client, silent)
      const atRest = new Set(waiting.flatMap(({ session, is_idle }) => (is_idle || before.has(session) ? session : [])))
      this.#waiting = new Set(waiting.map(({ session }) => session))
      // Checked again: a session that has answered meanwhile is rightly idle.
      const lost = this.#silent().filter(({ session }) => atRest.has(session))
      await this.#endSessions(client, [...abandoned, ...lost.map(({ session }) => session)])
      for (const { drop } of lost) drop()
      for (const pool of pools) for (const session of abandoned) pool.abandoned.delete(session)
    } finally {
      client.drop()
      this.#client = undefined
    }
  }

  #silent() {
    const { pools, limits } = this.#options
    return pools.flatMap((pool) => pool.silentFor(limits.suspicion))
  }

  async #waitingSessions(client: DatabaseClient, sessions: readonly string[]) {
    const { rows } = await client.query<{ session: string; is_idle: boolean }>({
      text: `select ${SESSION} as session, state like 'idle%' and state_change < clock_timestamp() - ${AT_REST} as is_idle
        from pg_stat_activity where ${OURS} and (state like 'idle%' or wait_event = 'ClientRead')`,
      values: [sessions],
      ...this.#inTime(),
    })
    return rows
  }

  async #endSessions(client: DatabaseClient, sessions: readonly string[]): Promise<void> {
    if (sessions.length === 0) return
    const text = `select pg_terminate_backend(pid) from pg_stat_activity where ${OURS}`
    await client.query({ text, values: [sessions], ...this.#inTime() })
  }

  #inTime() {
    return { query_timeout: this.#options.limits.connect }
  }
}

const SESSION = `pid || ' ' || ${SERVER_START}`
/**
 * The process id alone is not enough: the server may have reused it for another session, and behind the address of several replicas
 * another server has its own.
 */
const OURS = `${SESSION} = any($1::text[]) and datname = current_database() and usename = current_user
  and application_name = current_setting('application_name')`
