import type { TagHistory } from './counts.ts'
import { type SiteHistory, simulate } from './history.ts'
import type { SiteProfile } from './profile.ts'
import type { Random } from './random.ts'
import { replay, type VerdictLog } from './replay.ts'

/**
 * Replays a site of which the tag sends one event in `every`, as the service counts it: each that is sent so many times, and each
 * failure once.
 *
 * @param step slots between two runs
 */
export function replaySampled(site: SiteProfile, every: number, random: Random, log: VerdictLog, step: number): void {
  const sent = simulate(thinned(site, every), [], random)
  // What tag_missing judges is what was sent.
  const runs: (() => void)[][] = []
  const keeping = (isWanted: (probe: string) => boolean): VerdictLog => ({
    add(probe, slot, verdict) {
      if (!isWanted(probe)) return
      runs[slot] ??= []
      runs[slot].push(() => log.add(probe, slot, verdict))
    },
  })
  replay(
    sent,
    keeping((probe) => probe === 'tag_missing'),
    0,
    step,
  )
  weigh(sent, every, random)
  replay(
    sent,
    keeping((probe) => probe !== 'tag_missing'),
    0,
    step,
  )
  for (const run of runs) for (const tell of run ?? []) tell()
}

/** One in so many of a visit's events is sent: what is left of it comes in smaller groups. */
const thinned = (site: SiteProfile, every: number): SiteProfile => ({
  ...site,
  daily: site.daily / every,
  events: site.events.map((event) => ({ ...event, burst: 1 + (event.burst - 1) / every })),
  pagesAVisit: Math.max(1, Math.round((site.pagesAVisit ?? 1) / every)),
})

function weigh(history: SiteHistory, every: number, random: Random): void {
  const series = new Set([
    history.level,
    history.total,
    ...history.events.values(),
    ...history.tags.flatMap(({ executions, histogram, totalMs, onEvent }) => [
      executions,
      histogram,
      totalMs,
      ...onEvent.values(),
    ]),
    ...[...history.presence.values(), history.fields].flatMap((fields) =>
      [...fields.values()].flatMap(({ present, total }) => [present, total]),
    ),
  ])
  for (const counts of series) for (let at = 0; at < counts.length; at++) counts[at] = (counts[at] ?? 0) * every
  for (const tag of history.tags) failAgain(tag, random)
}

/** Of every execution that there was, not only of those that were sent. */
function failAgain({ tag, executions, bad }: TagHistory, random: Random): void {
  for (let slot = 0; slot < bad.length; slot++) bad[slot] = random.binomial(executions[slot] ?? 0, tag.failure)
}
