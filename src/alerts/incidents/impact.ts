import { counted, type Loss, runsMissed } from '../../detection/index.ts'
import { number, percent } from '../../lib/index.ts'
import type { LossCounts } from '../../probes/index.ts'
import type { Sign } from './sign.ts'

/** What an incident costs, in counts. Stored as JSON, hence the snake case. Times are epoch ms. */
export interface Impact {
  /** The period that was counted. */
  from: number
  to: number
  final: boolean
  /** Number of sites that it adds up. */
  sites: number
  /** Events that were expected and did not arrive; null when none can be missing, or nothing is known. */
  events: Loss | null
  /** The same per key event, in the order of the setting. */
  key_events: readonly NamedLoss[]
  /** Executions of tags that failed or did not happen; null likewise. */
  executions: Loss | null
  key_executions: readonly NamedLoss[]
  /** Share of all events that were expected of the site, or of its tag executions when its events arrived. */
  share: number | null
  /** How it was estimated, in words. */
  estimate: string
  /** What the purchases in its headline were worth; missing in what earlier versions wrote. */
  value?: ImpactValue | null
}

/** What lost purchases were worth. */
export interface ImpactValue {
  /** ISO 4217 */
  currency: string
  lost: number
  low: number
  high: number
  /** Null for a sum of several sites. */
  average_order_value: number | null
}

export interface NamedLoss extends Loss {
  event_name: string
}

/** What an incident may have cost events and tags. */
export interface Affected {
  from: number
  to: number
  /** Whether any event may be missing. */
  isWhole: boolean
  /** The events that may be missing, when only some may be. */
  events: readonly string[]
  /** Tags that fail. */
  failing: readonly string[]
  /** Tags that do not run, each with the events on which they do not; with no events, on all. */
  missing: readonly { tag: string; events: readonly string[] }[]
}

/** Causes that may lose any event. A check of ours that cannot run loses none. */
const WHOLE: readonly Sign['kind'][] = ['server', 'release', 'consent', 'silence']

/**
 * Returns what may have been lost since the first alert began; null when nothing can be: with slow tags and missing fields
 * everything still arrives, and a surge loses nothing.
 *
 * @param now the end of the period while the incident lasts
 */
export function affectedBy(signs: readonly Sign[], now: number): Affected | null {
  const losing = signs.filter(({ isSurge }) => !isSurge)
  const isWhole = losing.some(({ kind }) => WHOLE.includes(kind))
  const events = losing.flatMap((sign) => (sign.kind === 'event' ? sign.events : []))
  const failing = losing.flatMap(({ failing: how, tag }) => (how === 'failing' && tag !== null ? tag : []))
  const missing = losing.flatMap(({ failing: how, tag, events: on }) =>
    how === 'missing' && tag !== null ? [{ tag, events: on }] : [],
  )
  if (!isWhole && events.length + failing.length + missing.length === 0) return null
  return {
    from: Math.min(...losing.map(({ startedAt }) => startedAt)),
    to: Math.max(...losing.map(({ resolvedAt }) => resolvedAt ?? now)),
    isWhole,
    events: isWhole ? [] : [...new Set(events)],
    failing: [...new Set(failing)],
    missing,
  }
}

/**
 * Returns what was lost according to the counts.
 *
 * @param keyEvents names of the events that matter most, the most important first
 * @returns null when there is nothing to compare with
 */
export function impactOf(
  affected: Affected,
  counts: LossCounts,
  keyEvents: readonly string[],
  final: boolean,
): Impact | null {
  const names = affected.isWhole ? null : new Set(affected.events)
  const hasEvents = names === null || names.size > 0
  const lossesOf = (of: readonly string[]): NamedLoss[] =>
    of.flatMap((event_name) => {
      const loss = counts.events(event_name, names)
      return loss === null ? [] : [{ event_name, ...loss }]
    })
  const named = names === null ? [] : lossesOf([...names])
  const events = names === null ? counts.events(null, null) : sumOf(named)
  const keyNames = keyed(names === null ? counts.names : [...names], keyEvents)
  const runs = tagLosses(affected, counts)
  if (events === null && runs.all.length === 0) return null
  const executions = sumOf(runs.all)
  const ofSite = names !== null && hasEvents ? counts.events(null, names) : events
  const notRun = runs.missed.reduce((sum, { lost }) => sum + lost, 0)
  return {
    from: affected.from,
    to: affected.to,
    final,
    sites: 1,
    events: whole(events),
    key_events: lossesOf(keyNames).map(whole),
    executions: whole(executions),
    key_executions: keyed([...runs.onEvents.keys()], keyEvents).flatMap((event_name) => {
      const loss = sumOf(runs.onEvents.get(event_name) ?? [])
      return loss === null ? [] : [{ event_name, ...whole(loss) }]
    }),
    share:
      events !== null
        ? shareOf(events.lost, ofSite?.of ?? events.of)
        : shareOf(executions?.lost ?? 0, counts.executions + notRun),
    estimate: estimateInWords(affected, runs),
  }
}

/** Returns the sum of several sites' impacts, which is what a vendor's incident costs; null without any. */
export function togetherOf(impacts: readonly Impact[]): Impact | null {
  const [first] = impacts
  if (first === undefined) return null
  const byName = (of: (impact: Impact) => readonly NamedLoss[]): NamedLoss[] =>
    Array.from(
      Map.groupBy(impacts.flatMap(of), ({ event_name }) => event_name),
      ([event_name, losses]) => ({ event_name, ...(sumOf(losses) ?? counted(0, 0)) }),
    )
  return {
    from: Math.min(...impacts.map(({ from }) => from)),
    to: Math.max(...impacts.map(({ to }) => to)),
    final: impacts.every(({ final }) => final),
    sites: impacts.length,
    events: whole(sumOf(impacts.flatMap(({ events }) => events ?? []))),
    key_events: byName(({ key_events }) => key_events).map(whole),
    executions: whole(sumOf(impacts.flatMap(({ executions }) => executions ?? []))),
    key_executions: byName(({ key_executions }) => key_executions).map(whole),
    // Sites differ in traffic: a share of the sum would be that of the largest site.
    share: null,
    estimate: [...new Set(impacts.map(({ estimate }) => estimate))].join(' '),
  }
}

/** An estimate whose range is wider than this share of it, to either side, is shown with the range. */
const WIDE = 0.15

export const isWide = ({ lost, low, high }: Pick<Loss, 'lost' | 'low' | 'high'>): boolean =>
  (high - low) / 2 > WIDE * lost

interface Headline {
  loss: Loss
  what: string
  /** The event's name; null for all events. */
  event: string | null
  isOfTags: boolean
}

/** Returns the most important loss that is certain; null when the counts show none. */
export function headlineOf({ events, key_events, executions, key_executions }: Impact): Headline | null {
  const named = (loss: NamedLoss, isOfTags: boolean): Headline => {
    const what = `${isOfTags ? 'tag executions on ' : ''}${plural(loss.event_name)}`
    return { loss, what, event: loss.event_name, isOfTags }
  }
  const candidates = [
    ...key_events.map((loss) => named(loss, false)),
    ...key_executions.map((loss) => named(loss, true)),
    ...(events === null ? [] : [{ loss: events, what: 'events', event: null, isOfTags: false }]),
    ...(executions === null ? [] : [{ loss: executions, what: 'tag executions', event: null, isOfTags: true }]),
  ]
  return candidates.find(({ loss }) => loss.low >= 1) ?? null
}

/** Returns the loss in one line: `267 of 425 purchases (63 %)`. */
export function lossInWords(impact: Impact): string | null {
  const headline = headlineOf(impact)
  if (headline === null) return null
  const { loss, what } = headline
  const { lost, of, low, high } = loss
  const range = isWide(loss) ? `; between ${number(low)} and ${number(high)}` : ''
  return `${low < high ? 'about ' : ''}${number(lost)} of ${number(of)} ${what} (${percent(lost / of)}${range})`
}

/** Names of events that are ordinary nouns. */
const WORDS: readonly string[] = ['purchase', 'refund', 'order', 'lead', 'booking', 'donation']

const plural = (name: string): string => (WORDS.includes(name) ? `${name}s` : `“${name}” events`)

interface TagLosses {
  all: readonly Loss[]
  missed: readonly Loss[]
  onEvents: Map<string, Loss[]>
}

function tagLosses({ failing, missing }: Affected, { tags }: LossCounts): TagLosses {
  const onEvents = new Map<string, Loss[]>()
  const note = (event: string, loss: Loss) => onEvents.set(event, [...(onEvents.get(event) ?? []), loss])
  const failed = failing.flatMap((tag) => {
    const found = tags.get(tag)
    if (found === undefined) return []
    const { executions, bad, onEvents: on } = found
    // Counts per event exist for whole hours only, so their shares are applied to the counts of minutes.
    const hours = [...on.values()].reduce((sum, one) => ({ runs: sum.runs + one.runs, bad: sum.bad + one.bad }), NONE)
    for (const [event, one] of on) {
      if (one.runs === 0) continue
      const lost = (bad * one.bad) / Math.max(1, hours.bad)
      const ran = (executions * one.runs) / hours.runs
      // No more can have failed than ran. If they did, the hours before had another mix, and the successful runs are shared out
      // separately.
      const well = ((executions - bad) * (one.runs - one.bad)) / Math.max(1, hours.runs - hours.bad)
      note(event, counted(lost, lost < ran ? ran : lost + well))
    }
    return counted(bad, executions)
  })
  const missed = missing.flatMap(({ tag, events }) =>
    [...(tags.get(tag)?.onEvents ?? [])].flatMap(([event, { before, ...since }]) => {
      const loss = events.length === 0 || events.includes(event) ? runsMissed(since, before) : null
      if (loss === null) return []
      note(event, loss)
      return loss
    }),
  )
  return { all: [...failed, ...missed], missed, onEvents }
}

const NONE = { runs: 0, bad: 0 }

/** Returns the names that are in the list, in its order. `begin_checkout`, `beginCheckout` and `Begin Checkout` are the same. */
function keyed(names: readonly string[], keyEvents: readonly string[]): string[] {
  return keyEvents.flatMap((key) => names.filter((name) => plain(name) === plain(key)))
}

export const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\d]/gu, '')

/** Adds up losses. The errors of independent estimates partly cancel out, so their bounds are added in quadrature. */
export function sumOf(losses: readonly Loss[]): Loss | null {
  if (losses.length === 0) return null
  const [only] = losses
  if (losses.length === 1 && only !== undefined) return only
  const add = (of: (loss: Loss) => number) => losses.reduce((sum, loss) => sum + of(loss), 0)
  const lost = add((loss) => loss.lost)
  const below = Math.sqrt(add((loss) => (loss.lost - loss.low) ** 2))
  const above = Math.sqrt(add((loss) => (loss.high - loss.lost) ** 2))
  return { of: add((loss) => loss.of), lost, low: Math.max(0, lost - below), high: lost + above }
}

const shareOf = (lost: number, of: number): number | null => (of > 0 ? Math.round((1_000 * lost) / of) / 1_000 : null)

/** Rounds to whole events. */
function whole<T extends Loss | null>(loss: T): T {
  if (loss === null) return loss
  const { of, lost, low, high } = loss
  return { ...loss, of: Math.round(of), lost: Math.round(lost), low: Math.round(low), high: Math.round(high) }
}

function estimateInWords({ isWhole, events, failing, missing }: Affected, { all }: TagLosses): string {
  const parts = [
    ...(isWhole ? ['Expected: what is usual at these hours of the week, at the level of the hours before.'] : []),
    ...(events.length > 0 ? ['Expected: the usual share of these events among those that came.'] : []),
    ...(isWhole || events.length > 0 ? ['The range allows for chance and for the usual variation of the counts.'] : []),
    ...(failing.length > 0 && all.length > 0 ? ['Failed executions are counted.'] : []),
    ...(missing.length > 0 && all.length > 0
      ? ['Missing executions are estimated from the share of these events on which the tag ran in the week before.']
      : []),
  ]
  return parts.join(' ')
}
