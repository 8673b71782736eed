import { setTimeout as delay } from 'node:timers/promises'
import { asError, type Clock, monotonicOf, SECOND } from '../lib/index.ts'
import type { Outbound } from '../outbound/index.ts'
import { writeFetchedCounts } from '../reconciliation/index.ts'
import type { ProbeRow, SiteRow, Store } from '../store/index.ts'
import { timeToJudge } from './counts/judge-counts.ts'
import type { OwnConnection } from './own-connection.ts'
import {
  configFaults,
  isMet,
  isNetworkFailure,
  type JsonObject,
  needsInWords,
  type ProbeOutcome,
  type ProbeSettings,
  type ProbeType,
  withDefaults,
} from './probe-type.ts'
import type { Pages } from './types/pages.ts'

/** After its time is over, a run has this long to return its own outcome. */
const GRACE_MS = 500
/**
 * A timer this late shows that the process was held up. Node fires timers before it reads sockets, so the answer may already
 * have arrived.
 */
const LATE_MS = 500
/** Created once: each abort would otherwise create an error with its stack trace. */
const OVER = new Error('the run is over')
export const RETRY_AFTER_MS = SECOND

/** Tools that all runs share. */
export interface RunTools {
  store: Store
  clock: Clock
  outbound: Outbound
  pages: Pages
  settings: ProbeSettings
  /** Undefined when our own connection is not checked. */
  connection?: Pick<OwnConnection, 'judge'>
  /** Delay before the second attempt, ms. */
  retryAfterMs: number
}

export interface Run {
  outcome: ProbeOutcome
  attempts: number
  /** When the first attempt began, epoch ms. */
  executedAt: number
}

/**
 * Runs a probe: once, or twice when the network failed or when this process was held up until the time was over. Never throws: the outcome is an
 * `error` when the type is unknown, cannot run, throws or hangs. Returns undefined when `stop` was aborted, as the run then says nothing.
 */
export async function runProbe(
  tools: RunTools,
  type: ProbeType | undefined,
  probe: ProbeRow,
  site: SiteRow,
  stop: AbortSignal,
): Promise<Run | undefined> {
  const executedAt = tools.clock.now()
  const config = JSON.parse(probe.config) as JsonObject
  const refusal = type === undefined ? unknownType(probe) : refusalOf(type, config, site)
  if (type === undefined || refusal !== undefined) return refusal && { outcome: refusal, attempts: 1, executedAt }

  const attempt = () => attemptOnce(tools, type, probe, config, site, stop)
  const ended = async ({ outcome, isUnanswered }: Attempt, attempts: number): Promise<Run> => ({
    outcome:
      type.kind === 'wire' && tools.connection !== undefined
        ? await tools.connection.judge(outcome, { beganAt: executedAt, isUnanswered })
        : outcome,
    attempts,
    executedAt,
  })
  const first = await attempt()
  if (stop.aborted) return undefined
  if (!first.mayRetry) return ended(first, 1)
  await delay(tools.retryAfterMs, undefined, { signal: stop }).catch(() => undefined)
  if (stop.aborted) return undefined
  const second = await attempt()
  return stop.aborted ? undefined : ended(second, 2)
}

interface Attempt {
  outcome: ProbeOutcome
  mayRetry: boolean
  /** The network failed, or the time was over. */
  isUnanswered: boolean
}

async function attemptOnce(
  { store, clock, outbound, pages, settings }: RunTools,
  type: ProbeType,
  probe: ProbeRow,
  config: JsonObject,
  site: SiteRow,
  stop: AbortSignal,
): Promise<Attempt> {
  const timeoutMs = probe.timeout_ms
  const controller = new AbortController()
  const abort = () => controller.abort(new Error('the service stops'))
  stop.addEventListener('abort', abort, { once: true })
  const endsAt = monotonicOf(clock) + timeoutMs
  let isLate = false
  const timer = setTimeout(() => {
    // A `data` run may have held up the process itself, so lateness proves nothing.
    isLate = type.kind === 'wire' && monotonicOf(clock) - endsAt > LATE_MS
    controller.abort(new Error(`the limit of ${timeoutMs} ms is reached`))
  }, timeoutMs)
  const { signal } = controller
  const grace = graceAfter(signal, timeoutMs)
  const ended = (outcome: ProbeOutcome, isFailure: boolean): Attempt => {
    const isUnanswered = isFailure || signal.aborted
    return { outcome, mayRetry: isUnanswered && (!signal.aborted || isLate), isUnanswered }
  }
  try {
    const outcome = await Promise.race([
      // Inside a promise chain, so that a type that throws synchronously rejects like any other.
      timeOfRun(type, store, site, clock).then((now) =>
        type.run({
          site,
          probe,
          config: withDefaults(type, config),
          memory: JSON.parse(probe.memory) as JsonObject,
          now,
          timeoutMs,
          signal,
          store,
          writeReferences: (counts) => writeFetchedCounts(store, site, counts),
          lastReview: () => lastReview(store, probe.id),
          outbound,
          pages,
          settings,
        }),
      ),
      grace.outcome,
    ])
    return ended(outcome, outcome.isNetworkFailure === true)
  } catch (thrown) {
    const { name, message } = asError(thrown)
    // Types rethrow the reason that their signal was aborted with.
    if (thrown === signal.reason && !stop.aborted) return ended(outOfTime(timeoutMs), false)
    return ended(errorOutcome(`The check failed: ${message}`, { reason: 'exception', name }), isNetworkFailure(thrown))
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', abort)
    grace.end()
    // Tells a run that is still going that no one waits for it.
    controller.abort(OVER)
  }
}

/** Returns the run's `now`: see `ProbeContext`. */
async function timeOfRun({ kind }: ProbeType, store: Store, { site_no }: SiteRow, clock: Clock): Promise<number> {
  const now = clock.now()
  return kind === 'data' ? timeToJudge(store, site_no, now) : now
}

/** Resolves half a second after the abort, for runs that hang; `end` cancels it when the run has ended. */
function graceAfter(signal: AbortSignal, timeoutMs: number): { outcome: Promise<ProbeOutcome>; end: () => void } {
  const { promise, resolve } = Promise.withResolvers<ProbeOutcome>()
  let timer: NodeJS.Timeout | undefined
  const onAbort = () => {
    timer = setTimeout(resolve, GRACE_MS, outOfTime(timeoutMs))
  }
  signal.addEventListener('abort', onAbort, { once: true })
  return {
    outcome: promise,
    end() {
      signal.removeEventListener('abort', onAbort)
      clearTimeout(timer)
    },
  }
}

const outOfTime = (timeoutMs: number): ProbeOutcome =>
  errorOutcome(`The check did not finish within ${timeoutMs} ms`, { reason: 'timeout', timeout_ms: timeoutMs })

const unknownType = ({ probe_type }: ProbeRow): ProbeOutcome =>
  errorOutcome(`This version does not know probes of type ${probe_type}`, { reason: 'unknown_type', probe_type })

/** Returns why the probe cannot run as it is, or undefined. Sites and types may have changed since it was created. */
function refusalOf(type: ProbeType, config: JsonObject, site: SiteRow): ProbeOutcome | undefined {
  if (!isMet(type.needs, site)) {
    return errorOutcome(`The site has no ${needsInWords(type.needs)}`, {
      reason: 'missing_site_field',
      needs: type.needs,
    })
  }
  const faults = configFaults(type, config)
  if (faults.length === 0) return undefined
  return errorOutcome(
    `The settings are not valid: ${faults.map(({ path, message }) => `${path} ${message}`).join('; ')}`,
    {
      reason: 'bad_config',
      faults: faults.map(({ path, message }) => ({ path, message })),
    },
  )
}

const errorOutcome = (message: string, details: JsonObject): ProbeOutcome => ({ status: 'error', message, details })

/** Returns when people last acknowledged or resolved an alert of this probe by hand, epoch ms; null when they never did. */
export async function lastReview({ read }: Pick<Store, 'read'>, probeId: string): Promise<number | null> {
  const rows = await read
    .selectFrom('alerts')
    .select(['acknowledged_at', 'resolved_at', 'resolution'])
    .where('probe_id', '=', probeId)
    .where((eb) => eb.or([eb('acknowledged_at', 'is not', null), eb('resolution', '=', 'manual')]))
    .orderBy('id', 'desc')
    .limit(LOOKED_AT)
    .execute()
  const times = rows.flatMap(({ acknowledged_at, resolved_at, resolution }) => [
    acknowledged_at ?? 0,
    resolution === 'manual' ? (resolved_at ?? 0) : 0,
  ])
  return times.length === 0 ? null : Math.max(...times)
}

/** An alert opened earlier may have been acknowledged later, but hardly across ten alerts. */
const LOOKED_AT = 10
