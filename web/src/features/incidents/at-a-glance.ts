import type { IncidentDetail } from '../../api/incidents.ts'
import { counted, unbroken } from '../../lib/words.ts'
import { channelName, heldUntil } from '../../ui/delivery-words.ts'
import { sentence } from '../alerts/words.ts'
import { impactSentence } from './impact.ts'

type Messages = Pick<IncidentDetail, 'deliveries' | 'severity' | 'state'>

/** Why people are notified later or not at all: "Warning: message due at 03:30 (Slack)". Null when there is nothing to explain. */
export function messageDue(
  { deliveries, severity, state }: Messages,
  clock: (at: number) => string,
  now: number,
): string | null {
  const openings = deliveries.filter(({ kind, state }) => kind === 'opened' && state !== 'cancelled')
  const waiting = openings.flatMap((delivery) => {
    const due = heldUntil(delivery, now)
    return due === null ? [] : [{ due, channel: channelName(delivery) }]
  })
  const first = waiting.toSorted((a, b) => a.due - b.due)[0]
  if (first !== undefined) {
    const channels = [...new Set(waiting.map(({ channel }) => channel))].join(', ')
    return `${severity === 'critical' ? 'Message' : 'Warning: message'} due at ${clock(first.due)} (${channels})`
  }
  const isUntold = state === 'resolved' && openings.length === 0 && deliveries.length > 0
  return isUntold && deliveries.every(({ over_before_due }) => over_before_due)
    ? 'No message: it was over before one was due'
    : null
}

type Affected = IncidentDetail['affected'][number]

const NAMES_MOST = 2

/** "267 of 425 purchases (63 %)", "Nothing for certain", or why nothing is known. */
export function lossWords({ impact, cause, state }: Pick<IncidentDetail, 'impact' | 'cause' | 'state'>): string {
  if (impact !== null) return impactSentence(impact) === null ? 'Nothing for certain' : unbroken(`${impact.summary}`)
  if (cause === 'own') return 'Nothing: our own check failed'
  if (cause === 'quality') return 'Nothing: events arrive, but slow or incomplete'
  return state === 'resolved' ? 'Nothing was counted' : 'Not counted yet'
}

/** "purchase → Meta CAPI, on 3 sites" */
export function affectedWords(affected: readonly Affected[]): string {
  const events = namesOf(affected.flatMap((one) => one.events))
  const what = namesOf(
    affected.flatMap(({ tag, subject_label, events: on }) =>
      on.length > 0 && tag === null ? [] : (subject_label ?? []),
    ),
  )
  const sites = new Set(affected.map(({ site_id }) => site_id)).size
  const about = [events, what].filter((text) => text !== '').join(' → ')
  const where = sites > 1 ? counted(sites, 'site') : (affected[0]?.site_name ?? '')
  if (about === '') return where
  return sites > 1 ? `${about}, on ${where}` : about
}

function namesOf(names: readonly string[]): string {
  const all = [...new Set(names)]
  const shown = all.slice(0, NAMES_MOST).join(', ')
  return all.length > NAMES_MOST ? `${shown} and ${all.length - NAMES_MOST} more` : shown
}

type Explained = Pick<IncidentDetail, 'likely_cause' | 'scope' | 'cause' | 'vendor' | 'affected' | 'state'>

/** The likeliest cause. A vendor's incident names it itself: "Trouble at Meta: its tags fail on 3 sites". */
export function causeWords({ likely_cause, scope, cause, vendor, affected, state }: Explained): string {
  if (likely_cause !== null) return sentence(likely_cause)
  if (scope !== 'vendor' || vendor === null) return 'Not known yet'
  if (cause === 'own') return 'All of these checks need the same Google credentials'
  if (cause === 'silence')
    return `So many sites do not lose events at once by chance: ${vendor}'s endpoint or network, or something they share`
  const sites = new Set(affected.map(({ site_id }) => site_id)).size
  const failed = `its tags ${state === 'resolved' ? 'failed' : 'fail'}`
  return `Trouble at ${vendor}: ${failed} on ${sites > 1 ? counted(sites, 'site') : 'several sites'}`
}

const HOUR = 3_600_000

/** The address of the charts of the first affected site, from two hours before the incident began. */
export function chartsOf(incident: Pick<IncidentDetail, 'affected' | 'resolved_at'>) {
  const [first] = incident.affected
  if (first === undefined) return null
  const event = first.tag === null ? first.events[0] : undefined
  return {
    siteId: first.site_id,
    name: first.tag ?? event ?? first.site_name,
    search: {
      from: new Date(Date.parse(first.started_at) - 2 * HOUR).toISOString(),
      ...(incident.resolved_at !== null && { to: new Date(Date.parse(incident.resolved_at) + HOUR).toISOString() }),
      ...(first.tag !== null && { tag: first.tag }),
      ...(event !== undefined && { event }),
    },
  }
}
