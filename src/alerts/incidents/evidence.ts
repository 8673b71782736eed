import { capitalised, duration, MINUTE, quoted } from '../../lib/index.ts'
import { elsewhereText } from './across-sites.ts'
import { releaseBehind } from './explain.ts'
import { rankOf, type Sign } from './sign.ts'

/** A published version, as a check saw it. */
export interface Change {
  at: number
  source: string
  from_version: string | null
  to_version: string
}

/** What is known about an incident. */
export interface Known {
  signs: readonly Sign[]
  /** The alert that explains the others. */
  leadId: string | null
  /** The alert that messages are about, which cannot be its own cause. */
  voiceId: string | null
  /** The last change before it began, or the first seen after that; null when there was none. */
  change: Change | null
  /** The vendor whose tags fail on other sites too, or null. */
  vendorElsewhere: string | null
  /** The target's HTTP status, for a probe that sends it a request. */
  httpStatus: number | null
  /** Why its alerts are one incident, in sentences. */
  why: readonly string[]
}

interface Clue {
  text: string
  /** Rank of the cause that it names, the lowest surest; null when it only describes the incident. */
  causeRank: number | null
  /** The kind of that cause. */
  kind?: CauseKind
}

/** Kinds of causes: an alert of the incident, a vendor that fails elsewhere too, or a published version. */
export const CAUSE_KINDS = ['alert', 'vendor', 'change'] as const
type CauseKind = (typeof CAUSE_KINDS)[number]

/** Returns the evidence for an incident's cause, the strongest first. */
export function evidenceOf(known: Known): string[] {
  return [...new Set([...cluesOf(known).map(({ text }) => text), ...known.why])]
}

/** Returns the best explanation in a few words, or null when nothing but the alert itself is known. */
export const likelyCause = (known: Known): string | null => strongestCause(known)?.text ?? null

/** Returns the best explanation and its kind of cause. */
export function strongestCause(known: Known): { text: string; kind: CauseKind | null } | null {
  const clue = cluesOf(known).find(({ causeRank }) => causeRank !== null)
  return clue === undefined ? null : { text: clue.text, kind: clue.kind ?? null }
}

function cluesOf(known: Known): Clue[] {
  const { signs } = known
  const clues: Clue[] = [
    ...causeAmongAlerts(known),
    ...vendorClue(known),
    ...changeClue(known),
    ...statusClue(known),
    ...answerClues(signs),
    ...firstSign(signs),
  ]
  return clues.toSorted((a, b) => (a.causeRank ?? Number.POSITIVE_INFINITY) - (b.causeRank ?? Number.POSITIVE_INFINITY))
}

const vendorClue = ({ vendorElsewhere }: Known): Clue[] =>
  vendorElsewhere === null
    ? []
    : [{ text: elsewhereText(vendorElsewhere), causeRank: rankOf('release') - 0.5, kind: 'vendor' }]

/** Returns the lead as a clue when it is a stronger cause than other alerts of the incident. */
function causeAmongAlerts({ signs, leadId, voiceId }: Known): Clue[] {
  const lead = signs.find(({ alertId }) => alertId === leadId)
  const weaker = signs.filter((sign) => lead !== undefined && rankOf(sign.kind) > rankOf(lead.kind))
  if (lead === undefined || weaker.length === 0) return []
  const others = weaker.length === 1 ? 'the other alert' : `${weaker.length} other alerts`
  return [
    {
      text: `${quoted(lead.title)} explains ${others}`,
      causeRank: lead.alertId === voiceId ? null : rankOf(lead.kind),
      kind: 'alert',
    },
  ]
}

function changeClue({ signs, leadId, change }: Known): Clue[] {
  const lead = signs.find(({ alertId }) => alertId === leadId) ?? signs[0]
  if (change === null || lead === undefined) return []
  const apart = lead.startedAt - change.at
  const when = apart >= 0 ? `${duration(apart)} before it began` : `${duration(-apart)} after it began`
  const version = change.from_version === null ? change.to_version : `${change.from_version} → ${change.to_version}`
  const text = `${capitalised(change.source)} ${version} was ${apart >= 0 ? 'published' : 'seen'} ${when}`
  return [{ text, causeRank: releaseBehind(lead, [change.at]) === null ? null : rankOf('release'), kind: 'change' }]
}

const statusClue = ({ httpStatus }: Known): Clue[] =>
  httpStatus === null ? [] : [{ text: `The target answers with HTTP status ${httpStatus}`, causeRank: null }]

/** Returns what vendors answer and since when: the tags themselves may report success. */
function answerClues(signs: readonly Sign[]): Clue[] {
  const began = Math.min(...signs.map(({ startedAt }) => startedAt))
  return signs.flatMap(({ tag, answer, startedAt }) => {
    if (tag === null || answer === null) return []
    const since = startedAt - began < MINUTE ? 'since it began' : `since ${duration(startedAt - began)} after it began`
    return [{ text: `The vendor of ${quoted(tag)} answers with ${answer} ${since}`, causeRank: null }]
  })
}

/** Returns what it began with, and how long before the next sign. */
function firstSign(signs: readonly Sign[]): Clue[] {
  const [first, next] = signs.toSorted((a, b) => a.startedAt - b.startedAt)
  if (first === undefined) return []
  const what = first.tag ?? first.events[0]
  if (what === undefined) return []
  const event = first.tag === null ? undefined : first.events[0]
  const subject = `${quoted(what)}${event === undefined ? '' : ` on ${quoted(event)}`}`
  return [{ text: `It began with ${subject}${beforeNext(first, next)}`, causeRank: null }]
}

/** Empty when both began together, or when the next sign is the same tag on another site. */
function beforeNext(first: Sign, next: Sign | undefined): string {
  if (next === undefined || (first.tag !== null && first.tag === next.tag)) return ''
  const apart = next.startedAt - first.startedAt
  return apart < MINUTE ? '' : `, ${duration(apart)} before ${quoted(next.title)}`
}
