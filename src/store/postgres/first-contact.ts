import { setTimeout as delay } from 'node:timers/promises'
import { StartupError } from '../../lib/index.ts'
import type { StoreError } from '../store.ts'
import { storeErrorOf } from './errors.ts'
import type { ConnectionPool } from './pool.ts'

/** The first version with everything the statements use, and still supported upstream. */
const OLDEST_VERSION = 14
const SHORTEST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 4_000

export interface FirstContactOptions {
  /** The setting the address comes from. */
  name: string
  pool: ConnectionPool
  /** How long to wait for a server that is not there yet, ms. */
  patienceMs: number
  /** Called each time the server is not there. */
  onUnavailable: (error: StoreError) => void
}

/**
 * Waits for a server and checks that it is suitable. Returns the error if it is still unavailable in the end.
 *
 * @throws StartupError when waiting does not help: a wrong password, a missing database, an old version
 */
export async function firstContact({
  name,
  pool,
  patienceMs,
  onUnavailable,
}: FirstContactOptions): Promise<StoreError | undefined> {
  const until = Date.now() + patienceMs
  for (let pause = SHORTEST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      const { rows } = await pool.use((connection) => connection.query('show server_version_num'))
      requireVersion(name, Number(rows[0]?.server_version_num))
      return undefined
    } catch (thrown) {
      if (thrown instanceof StartupError) throw thrown
      const error = storeErrorOf(thrown)
      if (error.kind !== 'unavailable') throw cannotBeUsed(name, error)
      if (Date.now() + pause > until) return error
      onUnavailable(error)
    }
    await delay(pause)
  }
}

export const cannotBeUsed = (name: string, error: Error): StartupError =>
  new StartupError(`${name} cannot be used: ${error.message}`)

/** @param version as in `server_version_num`: 170004 @throws StartupError */
export function requireVersion(name: string, version: number): void {
  const major = Math.floor(version / 10_000)
  if (major < OLDEST_VERSION) {
    throw new StartupError(`${name} is PostgreSQL ${major}: ${OLDEST_VERSION} or newer is needed`)
  }
}
