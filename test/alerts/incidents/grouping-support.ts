import { incidentOf, type OpenIncident, type SiteFacts } from '../../../src/alerts/incidents/grouping.ts'
import { type Sign, signOf } from '../../../src/alerts/incidents/sign.ts'
import { HOUR, MINUTE } from '../../../src/lib/index.ts'
import { type Subject, subjectKey } from '../../../src/probes/index.ts'

const ORIGIN = Date.parse('2026-11-20T10:00:00Z')

/** A fault in short: what finds it, when it begins (minutes), and about what. */
export interface Fault extends Subject {
  type: string
  /** Of several of one type. */
  probe?: string
  at: number
  /** Critical without it. */
  warning?: true
  /** About the check itself. */
  check?: true
  /** Why the check could not be made. */
  reason?: string
  /** There is too much. */
  surge?: true
  /** On which events a tag is bad. */
  events?: readonly string[]
  /** Minutes at which it ended. */
  ended?: number
  /** Someone ended it. */
  byHand?: true
  /** Nothing of it came at all. */
  none?: true
  /** Minutes at which it was found; a moment after its beginning without it. */
  found?: number
}

/** Incidents are named by their place: the first is 1. */
export interface Before {
  faults: readonly Fault[]
  /** Whether people know of it; true without it. */
  told?: boolean
  /** Minutes at which a version was seen that it is blamed on. */
  release?: number
  ended?: number
}

export interface Known {
  releases?: readonly number[]
  tags?: readonly string[]
  /** Minutes; a moment after the fault without it. */
  now?: number
}

const time = (minutes: number): number => ORIGIN + minutes * MINUTE

export function sign(fault: Fault, id = 'new'): Sign {
  const { type, at, warning, check, surge, events = [], ended, byHand, found, none, tag_key, event_name, field } = fault
  const subject = {
    ...(tag_key === undefined ? {} : { tag_key }),
    ...(event_name === undefined ? {} : { event_name }),
    ...(field === undefined ? {} : { field }),
  }
  const finding = {
    subject,
    ...(none ? { measured: 0 } : {}),
    ...(surge ? { measured: 9, band: { low: null, high: 5 } } : {}),
  }
  return signOf({
    id,
    probe_id: fault.probe ?? type,
    probe_type: type,
    subject: check ? 'check' : subjectKey(subject),
    details: JSON.stringify(check ? ofCheck(fault) : { findings: [finding] }),
    bad_events: JSON.stringify(events),
    severity: warning ? 'warning' : 'critical',
    title: `${type} ${tag_key ?? event_name ?? field ?? ''}`.trim(),
    started_at: time(at),
    opened_at: time(found ?? at + 5),
    resolved_at: ended === undefined ? null : time(ended),
    resolution: ended === undefined ? null : byHand ? 'manual' : 'recovered',
    vendor: null,
  })
}

/** As the type of probe writes them. */
const ofCheck = ({ type, reason }: Fault) => (type === 'tag_manager_version' ? { server: { reason } } : { reason })

function incident({ faults, told = true, release, ended }: Before, index: number): OpenIncident {
  const signs = faults.map((fault, place) =>
    sign(ended === undefined ? fault : { ended, ...fault }, `${index}.${place}`),
  )
  const [lead] = signs
  return {
    id: String(index + 1),
    cause: release === undefined ? (lead?.kind ?? 'other') : 'release',
    causeAt: release === undefined ? null : time(release),
    isAnnounced: told,
    resolvedAt: ended === undefined ? null : time(ended),
    signs,
    leadId: lead?.alertId ?? null,
  }
}

/** What is decided, in short: `open tag`, `join 1`, `promote 1 server`, `promote 1+2 release`. */
export function decide(before: readonly Before[], fault: Fault, known: Known = {}): string {
  const facts: SiteFacts = {
    now: time(known.now ?? fault.found ?? fault.at + 5),
    releases: (known.releases ?? []).map(time),
    tags: known.tags ?? [],
  }
  const decision = incidentOf(sign(fault), before.map(incident), facts)
  if (decision.kind === 'open') return `open ${decision.cause}`
  if (decision.kind === 'join' || decision.kind === 'again') return `${decision.kind} ${decision.incident.id}`
  const ids = [decision.incident, ...decision.merged].map(({ id }) => id)
  return `promote ${ids.join('+')} ${decision.cause}`
}

export const HOURS = HOUR / MINUTE
