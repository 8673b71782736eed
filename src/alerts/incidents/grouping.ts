import { duration, MINUTE, quoted } from '../../lib/index.ts'
import { AFTER_MS, explanation, isAfterRelease, kinship, releaseBehind, TOGETHER_MS, whenIt } from './explain.ts'
import { type Cause, rankOf, type Sign } from './sign.ts'
import { AGAIN_MS, againMs, LATE_ESTIMATED_MS, LONGEST_AGAIN_MS } from './steady.ts'

/** An incident that is open, or ended a moment ago, as far as an alert's place depends on it. */
export interface OpenIncident {
  id: string
  cause: Cause
  /** Of a release: when it was seen. */
  causeAt: number | null
  isAnnounced: boolean
  /** Null while it is open. */
  resolvedAt: number | null
  /** Its alerts, those that are resolved too. */
  signs: readonly Sign[]
  /** The alert that explains the others. */
  leadId: string | null
}

/** What else is known of the site. */
export interface SiteFacts {
  now: number
  /** When versions were published, epoch ms. */
  releases: readonly number[]
  /** The tags that it has, by name; empty where that is not known. */
  tags: readonly string[]
}

/**
 * Where an alert belongs.
 * - `open`: to an incident of its own
 * - `join`: to this one, which stays as it is
 * - `again`: to this one, which had ended and is back
 * - `promote`: it explains this one, and all of `merged`, which become part of it: one incident, whose cause is now known
 */
export type Decision =
  | { kind: 'open'; cause: Cause; causeAt: number | null; why: string | null }
  | { kind: 'join'; incident: OpenIncident; why: string }
  | { kind: 'again'; incident: OpenIncident; why: string }
  | {
      kind: 'promote'
      incident: OpenIncident
      merged: readonly OpenIncident[]
      cause: Cause
      causeAt: number | null
      /** Whether the alert itself is the cause that was found. */
      leads: boolean
      why: string
    }

/** Of so many tags that are missing at once, not each has a fault of its own. */
const TAGS_AT_ONCE = 3
/** A silence that is found so soon is dated to the minute. */
const SHARPLY_MS = 30 * MINUTE
/** The rest may run on events that have not come yet. */
const MOST_TAGS = 0.8

/**
 * Decides which incident an alert belongs to, by what explains what. Pure, and only about messages: whatever it decides, the alert is
 * open, measured and resolved as it would be alone.
 *
 * 0. A budget that burns fast measures what is critical: it joins that, and is no fault of its own.
 * 1. The strongest open cause whose time and reach hold the alert explains it: it joins. So does what begins within two hours of a
 *    release that an open incident is blamed on.
 * 2. What was bad in an incident until four hours ago, or twelve where it is estimated, and is bad again is that incident, back.
 * 3. What is weaker and open, and is explained by the alert, is its symptom: one incident, whose cause is found.
 * 4. All tags missing at once are the container.
 * 5. What is no explanation but kin joins: the server from two sides, one vendor, one page. Else a release within two hours before is
 *    to blame.
 * 6. Everything else has an incident of its own.
 *
 * @param incidents of the site
 */
export function incidentOf(sign: Sign, incidents: readonly OpenIncident[], facts: SiteFacts): Decision {
  const current = incidents.filter(({ resolvedAt }) => resolvedAt === null || facts.now - resolvedAt <= AFTER_MS)
  const late = incidents.filter(({ resolvedAt }) => resolvedAt === null || facts.now - resolvedAt <= LATE_ESTIMATED_MS)
  const open = current.filter(({ resolvedAt }) => resolvedAt === null)
  return (
    spentBy(sign, open) ??
    explainedBy(sign, isFoundLate(sign) ? late : current) ??
    backIn(sign, incidents, facts.now) ??
    causeOfOthers(sign, open) ??
    container(sign, open, facts) ??
    kinOf(sign, open) ??
    afterRelease(sign, open, facts) ?? { kind: 'open', cause: sign.kind, causeAt: null, why: null }
  )
}

/** What looks back over hours where executions are rare: it began while its cause lasted, and is seen when that is over. */
const isFoundLate = ({ kind }: Sign): boolean => kind === 'quality'

function spentBy(sign: Sign, open: readonly OpenIncident[]): Decision | null {
  if (sign.probeType !== 'error_budget' || sign.kind === 'own' || !sign.isCritical) return null
  const spending = open.filter((incident) =>
    incident.signs.some(({ isCritical, kind, resolvedAt }) => isCritical && kind !== 'own' && resolvedAt === null),
  )
  const [first] = firstTold(spending.map((incident) => ({ incident })))
  return first === undefined
    ? null
    : { kind: 'join', incident: first.incident, why: `${quoted(sign.title)} shows what it costs` }
}

function explainedBy(sign: Sign, incidents: readonly OpenIncident[]): Decision | null {
  const found = incidents.flatMap((incident) => {
    const bySigns = incident.signs.flatMap((cause) => {
      const why = explanation(cause, sign)
      return why === null ? [] : [{ incident, why, rank: rankOf(cause.kind), at: cause.startedAt }]
    })
    return [...bySigns, ...byRelease(sign, incident)]
  })
  const [best] = found.toSorted(
    (a, b) => a.rank - b.rank || Math.abs(a.at - sign.startedAt) - Math.abs(b.at - sign.startedAt),
  )
  return best === undefined ? null : { kind: 'join', incident: best.incident, why: best.why }
}

function byRelease(sign: Sign, incident: OpenIncident) {
  const { cause, causeAt, resolvedAt } = incident
  if (cause !== 'release' || causeAt === null || resolvedAt !== null || releaseBehind(sign, [causeAt]) === null)
    return []
  const why = `${quoted(sign.title)} ${whenIt(sign, causeAt, 'the new version that is blamed for this incident')}`
  return [{ incident, why, rank: rankOf('release'), at: causeAt }]
}

const BACK = ' is back, '
const AFTER_END = ' after its end'
/** Whether a line of an incident's timeline says that something of it is back, and not that it was found late. */
export const saysBack = (text: string): boolean => text.includes(BACK) && text.endsWith(AFTER_END)

function backIn(sign: Sign, incidents: readonly OpenIncident[], now: number): Decision | null {
  const found = incidents.flatMap((incident) =>
    incident.signs.flatMap(({ probeId, subject, resolvedAt, hasRecovered }) => {
      // Two jobs, or two servers, that are bad as a whole are not one because the same type of probe says so.
      const isSame = probeId === sign.probeId && subject === sign.subject && hasRecovered
      const isKnown = isSame && resolvedAt !== null && isBack(sign, incident, resolvedAt, now)
      return isKnown ? [{ incident, resolvedAt }] : []
    }),
  )
  const [last] = found.toSorted((a, b) => b.resolvedAt - a.resolvedAt)
  if (last === undefined) return null
  const { incident, resolvedAt } = last
  const why = `${quoted(sign.title)}${BACK}${duration(now - resolvedAt)}${AFTER_END}`
  return { kind: incident.resolvedAt === null ? 'join' : 'again', incident, why }
}

/**
 * Soon after its end; or it says itself that it began before that end, which was none then. What was a symptom and is bad without its cause is
 * something else by then.
 */
function isBack(
  { kind, probeType, startedAt, openedAt }: Sign,
  incident: OpenIncident,
  resolvedAt: number,
  now: number,
): boolean {
  const since = now - resolvedAt
  if (since <= AGAIN_MS) return true
  // A loss that goes on swings around its limit, and is found by looking back over hours: this one began after that end.
  if (kind === 'silence' && startedAt > resolvedAt && openedAt - startedAt <= SHARPLY_MS) return false
  const lead = leadOf(incident)
  const looksBack = startedAt <= resolvedAt && since <= LONGEST_AGAIN_MS
  // A release that was blamed for it is no sign that could have ended.
  if (incident.cause === 'release' && lead?.probeType === probeType && looksBack) return true
  const isSymptom = rankOf(incident.cause) < rankOf(kind) || (lead !== undefined && rankOf(lead.kind) < rankOf(kind))
  return !isSymptom && (since <= againMs(probeType) || looksBack)
}

/** What it explains of the open incidents becomes one with it: with the one that was announced first, or else the oldest. */
function causeOfOthers(sign: Sign, open: readonly OpenIncident[]): Decision | null {
  const explained = open.flatMap((incident) => {
    const lead = leadOf(incident)
    const why = lead === undefined ? null : explanation(sign, lead)
    return why === null ? [] : [{ incident, why }]
  })
  const [first, ...others] = firstTold(explained)
  if (first === undefined) return null
  return {
    kind: 'promote',
    incident: first.incident,
    merged: others.map(({ incident }) => incident),
    cause: sign.kind,
    causeAt: null,
    leads: true,
    why: first.why,
  }
}

function kinOf(sign: Sign, open: readonly OpenIncident[]): Decision | null {
  for (const incident of open) {
    for (const other of incident.signs) {
      const why = kinship(other, sign) ?? slowedAlike(incident, other, sign)
      if (why !== null) return { kind: 'join', incident, why }
    }
  }
  return null
}

/** A slow server slows down rare tags too, of which it shows hours later; that it is slow is a warning, and would explain only what begins with it. */
function slowedAlike(incident: OpenIncident, { failing, title }: Sign, sign: Sign): string | null {
  const lead = leadOf(incident)
  const isSlow = lead?.kind === 'server' && lead.resolvedAt === null && failing === 'slow' && sign.failing === 'slow'
  return isSlow ? `${quoted(sign.title)} while the server is slow, like ${quoted(title)}` : null
}

/** Tags of many vendors that stop at once: no vendor did that. */
function container(sign: Sign, open: readonly OpenIncident[], { tags }: SiteFacts): Decision | null {
  if (sign.failing !== 'missing' || tags.length === 0) return null
  const missing = open.flatMap((incident) => {
    const lead = leadOf(incident)
    const isAlike = lead?.failing === 'missing' && Math.abs(lead.startedAt - sign.startedAt) <= TOGETHER_MS + 5 * MINUTE
    return isAlike ? [{ incident }] : []
  })
  const names = new Set([
    sign.tag,
    ...missing.flatMap(({ incident }) =>
      incident.signs.flatMap(({ failing, tag, resolvedAt }) =>
        failing === 'missing' && resolvedAt === null ? tag : [],
      ),
    ),
  ])
  const [first, ...others] = firstTold(missing)
  if (first === undefined || names.size < Math.max(TAGS_AT_ONCE, MOST_TAGS * tags.length)) return null
  return {
    kind: 'promote',
    incident: first.incident,
    merged: others.map(({ incident }) => incident),
    cause: 'release',
    causeAt: null,
    leads: false,
    why: `${names.size} of ${tags.length} tags are missing at once: that is the container, not the vendors`,
  }
}

/** A release that is known only now explains what opened before it was. */
function afterRelease(sign: Sign, open: readonly OpenIncident[], { releases }: SiteFacts): Decision | null {
  const at = releaseBehind(sign, releases)
  if (at === null) return null
  const alike = open.filter((incident) => {
    const lead = leadOf(incident)
    return lead !== undefined && releaseBehind(lead, [at]) !== null && isAfterRelease(lead, at)
  })
  const [first, ...others] = firstTold(alike.map((incident) => ({ incident })))
  const why = `${quoted(sign.title)} ${whenIt(sign, at, 'a new version')}`
  if (first === undefined) return { kind: 'open', cause: 'release', causeAt: at, why }
  return {
    kind: 'promote',
    incident: first.incident,
    merged: others.map(({ incident }) => incident),
    cause: 'release',
    causeAt: at,
    leads: false,
    why,
  }
}

const leadOf = ({ signs, leadId }: OpenIncident): Sign | undefined => signs.find(({ alertId }) => alertId === leadId)

/** The one that people know of, and of several the oldest: ids begin with the time. */
const firstTold = <T extends { incident: OpenIncident }>(found: readonly T[]): T[] =>
  found.toSorted(
    (a, b) =>
      Number(b.incident.isAnnounced) - Number(a.incident.isAnnounced) || (a.incident.id < b.incident.id ? -1 : 1),
  )
