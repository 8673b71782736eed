import { type AlertMessage, BRIEF } from '../../../src/notifications/index.ts'
import type { IncidentRow, Store } from '../../../src/store/index.ts'
import { timeOf } from '../../detection/world.ts'
import { delivered, type SentNotification } from '../messages.ts'
import { asSeen } from './as-seen.ts'
import { type Agency, CAUSE_KINDS, type Cause, type CauseKind, faultsMet } from './causes.ts'
import { AFTERMATH_SLOTS, culpritOf, type ShareOf, type Shown, shownBy } from './truth.ts'

/** An alert with what it really is and where it was put. */
export interface Symptom {
  id: string
  /** Null of a false alarm. */
  cause: Cause | null
  /** The incident that people heard of: a vendor's, or else that of the site. */
  incident: string
  /** That of the site. */
  own: string
  shown: Shown
  title: string
  startedAt: number
  resolvedAt: number | null
}

/** What became of one kind of cause. */
export interface KindFigures {
  causes: number
  /** Those that an alert showed. */
  found: number
  /** Incidents that are of them. */
  incidents: number
  symptoms: number
  /** Symptoms in the one incident that most of their cause are in; it may be of another fault of the same subject that was not over. */
  right: number
}

export interface Figures {
  siteMonths: number
  faults: number
  /** Of these, those that no one could tell from one of the same subject that was not over; and incidents that hold two such. */
  overlapping: number
  twins: number
  byKind: ReadonlyMap<CauseKind, KindFigures>
  alerts: number
  /** Incidents of nothing but false alarms. */
  falseIncidents: number
  /** Incidents that hold symptoms of more than one cause. */
  wrongMerges: readonly string[]
  /** Causes that an alert showed while people were notified of none of the incidents that it was in. */
  unfound: readonly string[]
  /** The same, of those that were warnings that were over before a notification was due. */
  brief: readonly string[]
  /** Messages to the operator by their kind. */
  kinds: Readonly<Record<string, number>>
  messages: { operator: number; clients: number; eachAlert: number }
}

const SITE_MONTH_DAYS = 30
const JUDGED_DAYS = 21

/** Reads what the program made of an agency's three weeks, and compares it with what really went wrong. */
export async function measure(
  store: Store,
  agency: Agency,
  places: ReadonlyMap<string, number>,
  outages: number,
): Promise<{ figures: Figures; symptoms: readonly Symptom[] }> {
  const incidents = await store.read.selectFrom('incidents').selectAll().execute()
  const nameOf = asSeen(agency.causes)
  const symptoms = await symptomsOf(store, agency, places, incidents)
  const byIncident = [...Map.groupBy(symptoms, ({ incident }) => incident)]
  const owners = ownersOf(symptoms)
  const byKind = new Map(
    CAUSE_KINDS.map((kind) => [kind, figuresOf(kind, agency.causes, symptoms, { owners, nameOf })]),
  )
  const found = new Set(symptoms.flatMap(({ cause }) => (cause === null ? [] : cause)))
  const told = await toldIn(store, incidents)
  const untold = [...found].filter((cause) => !isHeardOf(cause, symptoms, nameOf, told))
  const isBrief = (cause: Cause) => symptoms.some((one) => one.cause === cause && told.brief.has(one.own))
  const siteMonths = (agency.sites.length * JUDGED_DAYS) / SITE_MONTH_DAYS
  const figures: Figures = {
    siteMonths,
    faults: faultsMet(agency),
    overlapping: agency.causes.filter((cause) => nameOf(cause) !== cause.id).length,
    byKind,
    alerts: symptoms.length,
    falseIncidents: [...owners.values()].filter((cause) => cause === null).length,
    twins: byIncident.filter(([, held]) => {
      const causes = new Set(held.flatMap(({ cause }) => cause ?? []))
      return causes.size > 1 && new Set([...causes].map(nameOf)).size === 1
    }).length,
    wrongMerges: byIncident.flatMap(([incident, held]) => {
      const causes = new Set(held.flatMap(({ cause }) => (cause === null ? [] : nameOf(cause))))
      return causes.size > 1 ? [`${incident}: ${[...causes].join(' + ')}`] : []
    }),
    unfound: untold.filter((cause) => !isBrief(cause)).map(({ id }) => id),
    brief: untold.filter(isBrief).map(({ id }) => id),
    messages: await messagesIn(store, outages),
    kinds: told.kinds,
  }
  return { figures, symptoms }
}

function shareOfEvents({ sites }: Agency): ShareOf {
  return (place, name) => {
    const events = sites[place]?.profile.events ?? []
    const all = events.reduce((sum, { share }) => sum + share, 0)
    return (events.find((event) => event.name === name)?.share ?? 0) / all
  }
}

async function symptomsOf(
  store: Store,
  agency: Agency,
  places: ReadonlyMap<string, number>,
  incidents: readonly IncidentRow[],
): Promise<Symptom[]> {
  const shareOf = shareOfEvents(agency)
  const known = new Map(incidents.map((row) => [row.id, row]))
  const rootOf = (id: string): string => {
    const parent = known.get(id)?.parent_id ?? null
    return parent === null ? id : rootOf(parent)
  }
  const alerts = await store.read.selectFrom('alerts').selectAll().orderBy('id').execute()
  return alerts.map((alert) => {
    const shown = shownBy(alert, places.get(alert.site_id) ?? -1)
    const incident = rootOf(alert.incident_id ?? alert.id)
    return {
      id: alert.id,
      cause: culpritOf(shown, agency.causes, shareOf),
      incident,
      own: alert.incident_id ?? alert.id,
      shown,
      title: alert.title,
      startedAt: alert.started_at,
      resolvedAt: alert.resolved_at,
    }
  })
}

/** Of each incident the cause that most of its alerts are of; null: they are false alarms. */
function ownersOf(symptoms: readonly Symptom[]): Map<string, Cause | null> {
  const byIncident = Map.groupBy(symptoms, ({ incident }) => incident)
  return new Map(
    Array.from(byIncident, ([incident, held]) => {
      const real = held.filter(({ cause }) => cause !== null)
      const byCause = [...Map.groupBy(real, ({ cause }) => cause)].toSorted((a, b) => b[1].length - a[1].length)
      return [incident, byCause[0]?.[0] ?? null]
    }),
  )
}

function figuresOf(
  kind: CauseKind,
  causes: readonly Cause[],
  symptoms: readonly Symptom[],
  { owners, nameOf }: { owners: ReadonlyMap<string, Cause | null>; nameOf: (cause: Cause) => string },
): KindFigures {
  const mine = symptoms.filter(({ cause }) => cause?.kind === kind)
  let right = 0
  for (const [cause, shown] of Map.groupBy(mine, ({ cause }) => cause)) {
    const isOwn = (owner: Cause | null | undefined) =>
      owner !== null && owner !== undefined && cause !== null && nameOf(owner) === nameOf(cause)
    const inOwn = shown.filter(({ incident }) => isOwn(owners.get(incident)))
    right += Math.max(0, ...Array.from(Map.groupBy(inOwn, ({ incident }) => incident).values(), (held) => held.length))
  }
  return {
    causes: causes.filter((cause) => cause.kind === kind).length,
    found: new Set(mine.map(({ cause }) => cause)).size,
    incidents: [...owners.values()].filter((owner) => owner?.kind === kind).length,
    symptoms: mine.length,
    right,
  }
}

/** When people were notified of what has begun or become worse, by the incident. */
interface Told {
  at: ReadonlyMap<string, readonly number[]>
  /** Incidents with a message that was not sent, as they were over before it was due. */
  brief: ReadonlySet<string>
  kinds: Readonly<Record<string, number>>
}

const NEWS: readonly string[] = ['opened', 'flapping', 'escalated', 'explained', 'widened']

async function toldIn({ read }: Store, incidents: readonly IncidentRow[]): Promise<Told> {
  const rows = await read
    .selectFrom('deliveries')
    .select(['alert_id', 'channel', 'kind', 'not_before', 'state', 'message'])
    .execute()
  const voices = new Map(incidents.map(({ id, announced_alert_id }) => [announced_alert_id, id]))
  const at = new Map<string, number[]>()
  const kinds: Record<string, number> = {}
  const brief = new Set<string>()
  for (const { alert_id, channel, kind, not_before, state, message } of rows) {
    const incident = voices.get(alert_id)
    if (kind === BRIEF.kind) {
      if (incident !== undefined) brief.add(incident)
      continue
    }
    // What a client was notified of counts: the operator may get the vendor instead.
    if (incident !== undefined && NEWS.includes(kind)) at.set(incident, [...(at.get(incident) ?? []), not_before])
    // One message says that it began and ended, when that is certain.
    const { untold, alert } = JSON.parse(message) as Partial<AlertMessage>
    if (incident !== undefined && untold !== undefined && alert !== undefined)
      at.set(incident, [...(at.get(incident) ?? []), alert.resolved_at ?? not_before])
    if (channel === 'global' && state !== 'cancelled') kinds[kind] = (kinds[kind] ?? 0) + 1
  }
  return { at, kinds, brief }
}

/**
 * Whether people were notified of an incident with one of its symptoms while it lasted, or a moment after; or knew of it already, about the
 * very same subject, or of a fault that no one could tell from it.
 */
function isHeardOf(
  cause: Cause,
  symptoms: readonly Symptom[],
  nameOf: (cause: Cause) => string,
  { at }: Told,
): boolean {
  const mine = symptoms.filter((symptom) => symptom.cause === cause)
  const [from, to] = [timeOf(cause.from), timeOf(cause.to + AFTERMATH_SLOTS)]
  return mine.some(({ own, shown }) => {
    const isKnown = symptoms.some(
      (other) =>
        other.own === own &&
        other.shown.openedAt < from &&
        (subjectOf(other.shown) === subjectOf(shown) ||
          (other.cause !== null && nameOf(other.cause) === nameOf(cause))),
    )
    return at.get(own)?.some((time) => time <= to && (time >= from || isKnown)) === true
  })
}

const subjectOf = ({ probeType, tag, event, field }: Shown): string => [probeType, tag, event, field].join(' ')

const NOTIFYING: readonly string[] = ['opened', 'escalated', 'widened', 'flapping', 'resolved']

async function messagesIn(store: Store, outages: number): Promise<Figures['messages']> {
  const rows = await store.read.selectFrom('deliveries').selectAll().orderBy('id').execute()
  const sent = rows.flatMap(({ id, channel, client_id, alert_id, kind, state, created_at, not_before }) =>
    state === 'cancelled' || kind === BRIEF.kind
      ? []
      : [
          {
            channel,
            kind,
            clientId: client_id ?? 'operator',
            alertId: alert_id ?? id,
            at: created_at,
            notBefore: not_before,
          },
        ],
  )
  const withdrawn = new Set(
    rows.flatMap(({ channel, alert_id, kind, state, last_error }) =>
      state === 'cancelled' && kind === 'opened' && last_error !== BRIEF.reason ? `${channel} ${alert_id}` : [],
    ),
  )
  // Where an opening was withdrawn the rest is not sent either.
  const heard = sent.filter(({ channel, alertId }) => !withdrawn.has(`${channel} ${alertId}`))
  const events = await store.read
    .selectFrom('alert_events')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('kind', 'in', NOTIFYING)
    .executeTakeFirstOrThrow()
  return {
    // Each outage of our own has a message when it begins and when it ends.
    operator: countOn(heard, (channel) => channel === 'global', true) + 2 * outages,
    clients: countOn(heard, (channel) => channel !== 'global', false),
    eachAlert: Number(events.count),
  }
}

const GROUPED = { name: '', failureThreshold: 1, recoveryThreshold: 1, hasFlapping: true, isGrouped: true }

const countOn = (
  sent: readonly (SentNotification & { channel: string })[],
  isMine: (channel: string) => boolean,
  gathersEnds: boolean,
) =>
  delivered(
    sent.filter(({ channel }) => isMine(channel)),
    GROUPED,
    gathersEnds,
  )
