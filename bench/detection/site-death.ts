import {
  DATA_FRESHNESS_DEFAULTS,
  DATA_VOLUME_DEFAULTS,
  dataFreshness,
  dataVolume,
  localTime,
} from '../../src/detection/index.ts'
import { MINUTE, SECOND } from '../../src/lib/index.ts'
import { type CanaryMemory, judgeArrivals, withArrivals, withSent } from '../../src/probes/index.ts'
import type { SiteHistory } from './history.ts'
import { volumeInputs } from './inputs/volume.ts'
import { RUN_EVERY, SLOTS_A_DAY, timeOf } from './world.ts'

/** What dies: the tag server no longer answers, or it answers and what it takes gets no further. */
export const DEATHS = ['no answer', 'answered, and lost'] as const
export type Death = (typeof DEATHS)[number]

/** A site dies at the beginning of a slot, and probes run from `firstRun` on. */
export interface Moment {
  readonly diesAt: number
  readonly firstRun: number
}

/** As the probe has them: how long a canary may take, and how long a run waits for an answer and then for the canary. */
const LIMIT_MS = 60 * SECOND
const WAIT_MS = 10 * SECOND
/** What one takes that comes. */
const TRAVEL_MS = SECOND

/** Minutes until either probe of volume is bad; null when neither is in two days: they look no further back than one. */
export function foundByVolume(history: SiteHistory, { diesAt, firstRun }: Moment): number | null {
  const dead = silentFrom(history, diesAt)
  const countsAt = volumeInputs(dead, localTime(dead.site.timezone))
  for (let slot = firstRun; slot < diesAt + 2 * SLOTS_A_DAY; slot += RUN_EVERY) {
    const counts = countsAt(slot)
    const silence = dataFreshness({ now: timeOf(slot), ...counts, outages: [] }, DATA_FRESHNESS_DEFAULTS)
    const isBad = silence.status !== 'ok' || dataVolume(counts, DATA_VOLUME_DEFAULTS).status !== 'ok'
    if (isBad) return slot - diesAt
  }
  return null
}

/** Minutes until the canary is critical, at the end of the run that finds it. */
export async function foundByCanary(death: Death, { diesAt, firstRun }: Moment): Promise<number> {
  const canary = new CanaryRuns()
  // One that arrived before: a probe is set up while all is well.
  await canary.run(firstRun * MINUTE - RUN_EVERY * MINUTE, 'arrives')
  for (let now = firstRun * MINUTE; ; now += RUN_EVERY * MINUTE) {
    const { status, endedAt } = await canary.run(now, death === 'no answer' ? 'unanswered' : 'lost')
    if (status === 'critical') return endedAt / MINUTE - diesAt
  }
}

/** So often does the canary become critical in so many runs, of which each is lost with this chance. */
export async function falseAlarms(runs: number, isLost: () => boolean): Promise<number> {
  const canary = new CanaryRuns()
  await canary.run(0, 'arrives')
  let alarms = 0
  let wasBad = false
  for (let run = 1; run <= runs; run++) {
    const { status } = await canary.run(run * RUN_EVERY * MINUTE, isLost() ? 'lost' : 'arrives')
    if (status === 'critical' && !wasBad) alarms++
    wasBad = status === 'critical'
  }
  return alarms
}

type Fate = 'arrives' | 'lost' | 'unanswered'

/** The probe's runs in virtual time: what it sends meets its fate, and its own rules judge what is known of it. */
class CanaryRuns {
  #memory: CanaryMemory = { waiting: [], last: null, slowestMs: null }

  async run(now: number, fate: Fate): Promise<{ status: string; endedAt: number }> {
    // No answer is critical in any run, and there is nothing to wait for.
    if (fate === 'unanswered') return { status: 'critical', endedAt: now + WAIT_MS }
    const sent = withSent(this.#memory, { name: String(now), at: now })
    const arrived = fate === 'arrives' ? [[String(now), now + TRAVEL_MS] as const] : []
    this.#memory = withArrivals(sent, new Map(arrived))
    const endedAt = now + (fate === 'arrives' ? TRAVEL_MS : WAIT_MS)
    const why = () => Promise.resolve('')
    const facts = { memory: this.#memory, limitMs: LIMIT_MS, now: endedAt, listened: null, tags: [], why }
    const verdict = await judgeArrivals({ ...facts, isTelling: fate === 'arrives' })
    return { status: verdict.status, endedAt }
  }
}

function silentFrom(history: SiteHistory, slot: number): SiteHistory {
  const cut = (counts: Float64Array) => counts.slice().fill(0, slot)
  const events = new Map([...history.events].map(([name, counts]) => [name, cut(counts)] as const))
  return { ...history, events, total: cut(history.total) }
}
