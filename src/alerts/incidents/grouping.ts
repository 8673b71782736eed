import { duration, MINUTE, quoted } from '../../lib/index.ts'
import { AFTER_MS, explanation, kinship, releaseBehind, TOGETHER_MS, whenIt } from './explain.ts'
import { type Cause, rankOf, type Sign } from './sign.ts'
import { AGAIN_MS, againMs, LATE_ESTIMATED_MS, LONGEST_AGAIN_MS } from './steady.ts'

/** An incident that is open or was just resolved, as far as grouping depends on it. */
export interface OpenIncident {
  id: string
  cause: Cause
  /** For a release: when it was seen. */
  causeAt: number | null
  isAnnounced: boolean
  /** Null while it is open. */
  resolvedAt: number | null
  /** Its alerts, including resolved ones. */
  signs: readonly Sign[]
  /** Id of the alert that explains the others. */
  leadId: string | null
}

/** What else grouping needs to know about the site. */
export interface SiteFacts {
  now: number
  /** When versions were published, epoch ms. */
  releases: readonly number[]
  /** The names of its tags; empty when unknown. */
  tags: readonly string[]
}

/**
 * Where an alert belongs.
 * - `open`: in an incident of its own
 * - `join`: in this one, which stays as it is
 * - `again`: in this one, which was resolved and is back
 * - `promote`: in this one, which it explains, as it does `merged`, which become part of it: one incident whose cause is now known
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
      /** Whether the alert itself is the cause. */
      leads: boolean
      why: string
    }

/** This many tags that are missing at once do not each have a fault of their own. */
const TAGS_AT_ONCE = 3
/** A silence that is found this soon after it began is dated to the minute. */
const SHARPLY_MS = 30 * MINUTE
/** Share of the tags that must be missing: the others may run on events that have not arrived yet. */
const MOST_TAGS = 0.8

/**
 * Decides which incident an alert belongs to, by what explains what. Pure, and only about messages: whatever it decides, the alert
 * itself is opened, measured and resolved as it would be alone. The first rule that applies wins:
 *
 * 0. A fast-burning error budget measures something that is critical: it joins that and is no fault of its own.
 * 1. The strongest open cause that fits the alert in time and reach explains it: it joins. So does what begins within two hours of a
 *    release that an open incident is blamed on.
 * 2. What was bad in an incident until 4 h ago, or 12 h where it is estimated, and is bad again, is that incident, back.
 * 3. What is weaker and open, and is explained by the alert, is its symptom: one incident, whose cause is now known.
 * 4. All tags missing at once are the container's fault.
 * 5. What is no explanation but related joins: the server seen by two probes, one vendor, one page. Otherwise a release within the
 *    two hours before is to blame.
 * 6. Anything else gets an incident of its own.
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

/** Whether a sign may be found after its cause has ended: probes of quality look back over hours where executions are rare. */
const isFoundLate = ({ kind }: Sign): boolean => kind === 'quality'

function spentBy(sign: Sign, open: readonly OpenIncident[]): Decision | null {
  if (sign.probeType !== 'error_budget' || sign.kind === 'own' || !sign.isCritical) return null
  const spending = open.filter((incident) =>
    incident.signs.some(({ isCritical, kind, resolvedAt }) => isCritical && kind !== 'own' && resolvedAt === null),
  )
  const [first] = announcedFirst(spending.map((incident) => ({ incident })))
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

function backIn(sign: Sign, incidents: readonly OpenIncident[], now: number): Decision | null {
  const found = incidents.flatMap((incident) =>
    incident.signs.flatMap(({ probeId, subject, resolvedAt, hasRecovered }) => {
      // The probe must be the same: two jobs, or two servers, are not one just because the same type of probe watches them.
      const isSame = probeId === sign.probeId && subject === sign.subject && hasRecovered
      const isKnown = isSame && resolvedAt !== null && isBack(sign, incident, resolvedAt, now)
      return isKnown ? [{ incident, resolvedAt }] : []
    }),
  )
  const [last] = found.toSorted((a, b) => b.resolvedAt - a.resolvedAt)
  if (last === undefined) return null
  const { incident, resolvedAt } = last
  const why = `${quoted(sign.title)} is back, ${duration(now - resolvedAt)} after its end`
  return { kind: incident.resolvedAt === null ? 'join' : 'again', incident, why }
}

/**
 * Returns whether a sign is its incident back: bad again soon after its end, or, by its own account, since before that end, which
 * then was none. A symptom that is bad without its cause is something else by then.
 */
function isBack(
  { kind, probeType, startedAt, openedAt }: Sign,
  incident: OpenIncident,
  resolvedAt: number,
  now: number,
): boolean {
  const since = now - resolvedAt
  if (since <= AGAIN_MS) return true
  // A loss that lasts swings around its threshold and is found by looking back over hours. This one was found at once and began
  // after the end.
  if (kind === 'silence' && startedAt > resolvedAt && openedAt - startedAt <= SHARPLY_MS) return false
  const lead = leadOf(incident)
  const looksBack = startedAt <= resolvedAt && since <= LONGEST_AGAIN_MS
  // A blamed release is no alert that could have ended, so the probe's type decides.
  if (incident.cause === 'release' && lead?.probeType === probeType && looksBack) return true
  const isSymptom = rankOf(incident.cause) < rankOf(kind) || (lead !== undefined && rankOf(lead.kind) < rankOf(kind))
  return !isSymptom && (since <= againMs(probeType) || looksBack)
}

/** Merges the open incidents that the sign explains into the one announced first, or else the oldest. */
function causeOfOthers(sign: Sign, open: readonly OpenIncident[]): Decision | null {
  const explained = open.flatMap((incident) => {
    const lead = leadOf(incident)
    const why = lead === undefined ? null : explanation(sign, lead)
    return why === null ? [] : [{ incident, why }]
  })
  const [first, ...others] = announcedFirst(explained)
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

/**
 * Rarely used tags show hours later that the server slows them down too; but a slow server is a warning, which explains only what
 * begins with it.
 */
function slowedAlike(incident: OpenIncident, { failing, title }: Sign, sign: Sign): string | null {
  const lead = leadOf(incident)
  const isSlow = lead?.kind === 'server' && lead.resolvedAt === null && failing === 'slow' && sign.failing === 'slow'
  return isSlow ? `${quoted(sign.title)} while the server is slow, like ${quoted(title)}` : null
}

/** Blames the container when tags of many vendors stop at once, because no vendor could do that. */
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
  const [first, ...others] = announcedFirst(missing)
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

/** A release that has just become known explains what opened before. */
function afterRelease(sign: Sign, open: readonly OpenIncident[], { releases }: SiteFacts): Decision | null {
  const at = releaseBehind(sign, releases)
  if (at === null) return null
  const alike = open.filter((incident) => {
    const lead = leadOf(incident)
    return lead !== undefined && releaseBehind(lead, [at]) !== null
  })
  const [first, ...others] = announcedFirst(alike.map((incident) => ({ incident })))
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

/** Sorts the incidents that people know of first, then the oldest: ids begin with the time. */
const announcedFirst = <T extends { incident: OpenIncident }>(found: readonly T[]): T[] =>
  found.toSorted(
    (a, b) =>
      Number(b.incident.isAnnounced) - Number(a.incident.isAnnounced) || (a.incident.id < b.incident.id ? -1 : 1),
  )
