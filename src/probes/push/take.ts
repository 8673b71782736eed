import { sql } from 'kysely'
import { RateLimitedError } from '../../http/index.ts'
import { type Clock, hashOf, MINUTE, notFound, SECOND } from '../../lib/index.ts'
import type { Store } from '../../store/index.ts'
import type { Said } from './said.ts'

/** Addresses that open nothing, which a caller may try in a minute. */
const GUESSES_MAX = 30
/** Calls of one address that are written at once, and then one each second. */
const BURST = 10
/** Callers, and addresses, remembered at most; beyond it the one that came first goes. */
const REMEMBERED_MAX = 10_000

/**
 * What this node takes of calls. Who knows an address may write a row a second and no more; who guesses keeps neither the database nor, where the guesser's
 * address is shared with others, jobs that are known here from working.
 */
export class PushLimits {
  readonly #clock: Clock
  readonly #guesses = new Map<string, { since: number; count: number }>()
  readonly #tokens = new Map<string, { left: number; at: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Before a token is looked up.
   *
   * @param hash of the token
   * @throws RateLimitedError when the caller has tried too many that open nothing, and this one has not worked here lately
   */
  admit(caller: string, hash: string): void {
    if (this.#tokens.has(hash)) return
    const known = this.#guesses.get(caller)
    if (known === undefined || known.count < GUESSES_MAX) return
    const left = known.since + MINUTE - this.#clock.now()
    if (left > 0 && left <= MINUTE) {
      throw new RateLimitedError('Too many unknown addresses from here', Math.ceil(left / SECOND))
    }
    this.#guesses.delete(caller)
  }

  /** It opened nothing. */
  guessed(caller: string, hash: string): void {
    this.#tokens.delete(hash)
    const now = this.#clock.now()
    const known = this.#guesses.get(caller)
    const isOver = known === undefined || Math.abs(now - known.since) >= MINUTE
    remember(this.#guesses, caller, isOver ? { since: now, count: 1 } : { ...known, count: known.count + 1 })
  }

  /** It opened a probe. */
  known(hash: string): void {
    if (!this.#tokens.has(hash)) remember(this.#tokens, hash, { left: BURST, at: this.#clock.now() })
  }

  /** Before a call is written. @throws RateLimitedError when too many of this address were */
  write(hash: string): void {
    const now = this.#clock.now()
    const { left, at } = this.#tokens.get(hash) ?? { left: BURST, at: now }
    const filled = Math.min(BURST, left + Math.max(0, now - at) / SECOND)
    if (filled < 1) throw new RateLimitedError('Too many calls of this address', 1)
    remember(this.#tokens, hash, { left: filled - 1, at: now })
  }
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > REMEMBERED_MAX && oldest !== undefined) map.delete(oldest)
}

/** A call that says what the one before said is written once in this time, ms. */
const SAME_MS = SECOND
/** Calls of one probe ask for a run no more often than this, ms: runs write results. */
const RUN_EVERY_MS = 5 * SECOND

/**
 * Takes a call: keeps what it says in the probe's one row, and where that changes how the probe stands has it run at once, by whichever node
 * runs probes. Two statements and no transaction: the deletion of a probe locks the two rows the other way round, and should the second be lost the
 * probe runs within its interval.
 *
 * @throws AppError `not_found`: the address was never given out, or is gone
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

/** Now, or a while after the run that was asked for last. A clock that was ahead puts nothing off for longer. */
function runTime(now: number, askedAt: number | null): number {
  if (askedAt === null || askedAt > now + RUN_EVERY_MS) return now
  return askedAt > now ? askedAt : Math.max(now, askedAt + RUN_EVERY_MS)
}

const isWithin = (now: number, at: number | null, length: number): boolean =>
  at !== null && now >= at && now - at < length
