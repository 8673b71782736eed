import { sql } from 'kysely'
import { mustWait } from '../../http/index.ts'
import { type Clock, hashOf, MINUTE, notFound, SECOND } from '../../lib/index.ts'
import type { Store } from '../../store/index.ts'
import type { Said } from './said.ts'

/** Unknown addresses that a caller may try in a minute. */
const GUESSES_MAX = 30
/** Calls of one address that are written at once; after that, one a second. */
const BURST = 10
/** Callers and addresses remembered; the oldest is dropped for a new one. */
const REMEMBERED_MAX = 10_000

/**
 * Limits the calls that this node handles. A known address may write one row a second. Guessing an address loads neither the
 * database nor, if the guesser shares an IP address with others, their jobs that are known here.
 */
export class PushLimits {
  readonly #clock: Clock
  readonly #guesses = new Map<string, { since: number; count: number }>()
  readonly #tokens = new Map<string, { left: number; at: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Call it before a token is looked up.
   *
   * @param hash of the token
   * @throws RateLimitedError when the caller has tried too many unknown addresses and this one has not worked here lately
   */
  admit(caller: string, hash: string): void {
    if (this.#tokens.has(hash)) return
    const known = this.#guesses.get(caller)
    if (known === undefined || known.count < GUESSES_MAX) return
    const left = known.since + MINUTE - this.#clock.now()
    if (left > 0 && left <= MINUTE) {
      throw mustWait('Too many calls of unknown addresses from this sender', left)
    }
    this.#guesses.delete(caller)
  }

  /** The address was unknown. */
  guessed(caller: string, hash: string): void {
    this.#tokens.delete(hash)
    const now = this.#clock.now()
    const known = this.#guesses.get(caller)
    const isOver = known === undefined || Math.abs(now - known.since) >= MINUTE
    remember(this.#guesses, caller, isOver ? { since: now, count: 1 } : { ...known, count: known.count + 1 })
  }

  /** The address belongs to a probe. */
  known(hash: string): void {
    if (!this.#tokens.has(hash)) remember(this.#tokens, hash, { left: BURST, at: this.#clock.now() })
  }

  /**
   * Call it before a call is written.
   *
   * @throws RateLimitedError when this address has too many
   */
  write(hash: string): void {
    const now = this.#clock.now()
    const { left, at } = this.#tokens.get(hash) ?? { left: BURST, at: now }
    const filled = Math.min(BURST, left + Math.max(0, now - at) / SECOND)
    if (filled < 1) throw mustWait('Too many calls of this address', SECOND)
    remember(this.#tokens, hash, { left: filled - 1, at: now })
  }
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > REMEMBERED_MAX && oldest !== undefined) map.delete(oldest)
}

/** A call that repeats the one before is written only once in this time, ms. */
const SAME_MS = SECOND
/** Calls request a run of the probe at most this often, ms, because each run writes a result. */
const RUN_EVERY_MS = 5 * SECOND

/**
 * Handles a call: stores what it reports in the probe's row and, if that changes the probe's status, makes it due at once for
 * any node that runs probes. Two statements without a transaction: deleting a probe locks the two rows in the opposite order.
 * If the second is lost, the probe still runs within its interval.
 *
 * @throws AppError `not_found` when the address never existed or was deleted
 * @throws RateLimitedError
 */
export async function takePush(
  { read, write }: Pick<Store, 'read' | 'write'>,
  limits: PushLimits,
  call: { token: string; caller: string; now: number },
  said: Said,
): Promise<void> {
  const { token, caller, now } = call
  const hash = hashOf(token)
  limits.admit(caller, hash)
  const known = await read
    .selectFrom('pushes')
    .innerJoin('probes', 'probes.id', 'pushes.probe_id')
    .select(['pushes.probe_id', 'last_at', 'pushes.last_status', 'pushes.last_message', 'started_at', 'run_asked_at'])
    .select(['probes.last_status as stands', 'probes.last_reason as reason'])
    .where('token_hash', '=', hash)
    .executeTakeFirst()
  if (known === undefined) {
    limits.guessed(caller, hash)
    throw notFound('Address')
  }
  limits.known(hash)
  if (said.status === 'start') {
    if (isWithin(now, known.started_at, SAME_MS)) return
    limits.write(hash)
    await write.updateTable('pushes').set({ started_at: now }).where('token_hash', '=', hash).execute()
    return
  }
  const saysTheSame = said.status === known.last_status && said.message === known.last_message
  if (saysTheSame && known.started_at === null && isWithin(now, known.last_at, SAME_MS)) return
  limits.write(hash)
  const changes = said.status !== known.last_status || known.stands !== said.status || known.reason !== null
  const runAt = changes ? runTime(now, known.run_asked_at) : null
  const changed = await write
    .updateTable('pushes')
    .set({
      last_at: now,
      last_status: said.status,
      last_message: said.message,
      status_since: sql<number>`case when last_status = ${said.status} then status_since else cast(${now} as bigint) end`,
      duration_ms:
        said.durationMs ??
        sql<number | null>`case when started_at <= ${now} then cast(${now} as bigint) - started_at end`,
      started_at: null,
      ...(runAt === null ? {} : { run_asked_at: runAt }),
    })
    .where('token_hash', '=', hash)
    .returning('probe_id')
    .executeTakeFirst()
  if (changed === undefined) throw notFound('Address')
  if (runAt === null) return
  await write
    .updateTable('probes')
    .set({ next_run_at: runAt })
    .where('id', '=', changed.probe_id)
    .where('is_active', '=', 1)
    .where('next_run_at', '>', runAt)
    .execute()
}

/** Now, or `RUN_EVERY_MS` after the last requested run. A request from a clock that was ahead delays nothing for longer. */
function runTime(now: number, askedAt: number | null): number {
  if (askedAt === null || askedAt > now + RUN_EVERY_MS) return now
  return askedAt > now ? askedAt : Math.max(now, askedAt + RUN_EVERY_MS)
}

const isWithin = (now: number, at: number | null, length: number): boolean =>
  at !== null && now >= at && now - at < length
