import { DAY, duration, HOUR, MINUTE, quoted } from '../../lib/index.ts'
import { rankOf, type Sign } from './sign.ts'

/**
 * What a stronger cause explains may show this much before it: a check runs every few minutes, and what is counted is dated from the
 * last time that it was well.
 */
export const BEFORE_MS = 15 * MINUTE
/** As long after its end as sites need to send again, and probes to see it. */
export const AFTER_MS = 15 * MINUTE
/**
 * A cause that is only a warning explains what begins with it and not what begins while it lasts: a certificate that expires
 * in two weeks is a warning all that time, and whatever else breaks meanwhile is something else.
 */
const MILD_MS = 30 * MINUTE
/**
 * Of a cause that is certain, symptoms show within a day, those of rare events too. One that lasts longer may be a check that is wrong, or
 * a fault that people live with: it must not keep them from hearing of others.
 */
const HARD_MS = DAY
/** For so long a version is what a fault is blamed on first: after that most sites have seen every page with it. */
export const RELEASE_MS = 2 * HOUR
/** A version is seen by a check that runs every 15 minutes: so what it breaks may show first. */
const RELEASE_SEEN_MS = 20 * MINUTE
/** Two probes that look at one thing: the slower of them runs every 15 minutes. */
const SIDES_MS = 20 * MINUTE
/** A tag that fails is slow at once; one that is slow half a day later has another reason. */
const TAG_MS = HOUR
/**
 * Faults of one vendor or one page that begin so close to each other have one cause: of nine independent faults a month two do so
 * once in five years.
 */
export const TOGETHER_MS = 10 * MINUTE

/** One field that is lost on several events: what is rare shows it hours later, and is dated by what came before. */
const FIELD_MS = 2 * HOUR

/** So far back a fall of the volume is looked for that chance does not explain. */
const LOOKS_BACK_MS = 4 * HOUR

/** Why the cause explains the symptom, in words; null when it does not. A cause explains only what is weaker than itself. */
export function explanation(cause: Sign, symptom: Sign): string | null {
  if (rankOf(cause.kind) >= rankOf(symptom.kind) || !isWithin(cause, symptom) || !reaches(cause, symptom)) return null
  return `${quoted(symptom.title)} ${whenIt(symptom, cause.startedAt, quoted(cause.title))}, which explains it`
}

/** Whether what the cause affects holds what the symptom is about. */
function reaches(cause: Sign, symptom: Sign): boolean {
  // Too much is never the work of what is broken, but a release may count twice.
  if (symptom.isSurge) return cause.kind === 'release'
  // An event is judged by its share of what comes: that less comes is no reason for it to stop.
  const isPartial = cause.kind === 'silence' && cause.probeType === 'data_volume' && !cause.isTotal
  if (cause.isSurge || (isPartial && symptom.kind === 'event' && symptom.isTotal)) return false
  switch (cause.kind) {
    case 'own':
      // A check that cannot be made says nothing of what came: tags and events are judged by that.
      return symptom.kind !== 'event' && symptom.kind !== 'tag' && symptom.kind !== 'quality'
    case 'event':
      return symptom.events.length > 0 && symptom.events.every((event) => cause.events.includes(event))
    case 'tag':
      return isSameTag(cause, symptom)
    case 'quality':
    case 'other':
      return false
    default:
      return true
  }
}

/** Whether the symptom began while the cause can have caused it. */
function isWithin(cause: Sign, symptom: Sign): boolean {
  // What is only a warning, as of a certificate that runs out in two weeks, explains nothing that may have begun long before it.
  const rough = cause.isCritical ? roughMs(symptom, cause) : symptom.resolutionMs
  if (symptom.startedAt + rough < cause.startedAt - BEFORE_MS) return false
  // What changes on the page shows at once, like a release.
  if (cause.kind === 'release' || cause.kind === 'consent') return symptom.startedAt <= cause.startedAt + RELEASE_MS
  // That a check cannot be made, in silence about the rest, is mild by nature.
  if (!cause.isCritical || cause.kind === 'own') return symptom.startedAt <= cause.startedAt + MILD_MS
  if (cause.kind === 'tag' && symptom.startedAt > cause.startedAt + TAG_MS + symptom.resolutionMs) return false
  const until = cause.resolvedAt === null ? Number.POSITIVE_INFINITY : cause.resolvedAt + AFTER_MS
  return symptom.startedAt <= Math.min(until, cause.startedAt + HARD_MS)
}

/**
 * How roughly the symptom's beginning is known. What is too little on a quiet site is found by looking back over hours, and may have begun at any
 * time in them; but what was found before its cause is no symptom of it.
 */
function roughMs({ kind, probeType, startedAt, openedAt, resolutionMs }: Sign, cause: Sign): number {
  const isVolume = probeType === 'data_volume' && kind === 'silence'
  return isVolume && openedAt >= cause.startedAt
    ? Math.max(resolutionMs, Math.min(openedAt - startedAt, LOOKS_BACK_MS))
    : resolutionMs
}

/** Why two signs of which neither explains the other have one cause all the same, in words; null when they have not. */
export function kinship(a: Sign, b: Sign): string | null {
  if (a.isSurge !== b.isSurge) return null
  const apart = Math.abs(a.startedAt - b.startedAt)
  const both = `${quoted(b.title)} ${whenIt(b, a.startedAt, quoted(a.title))}`
  if (a.kind === b.kind && isWhole(a) && (apart <= SIDES_MS || isDuring(a, b) || isDuring(b, a))) {
    return `${both}: both are about the same thing`
  }
  if (a.kind === 'event' && b.kind === 'event') {
    return apart <= TOGETHER_MS + Math.max(a.resolutionMs, b.resolutionMs) ? `${both}, on the same site` : null
  }
  if (a.tag !== null && a.tag === b.tag && a.kind === b.kind && apart <= SIDES_MS) return `${both}, and is the same tag`
  if (a.vendor !== null && a.vendor === b.vendor && a.kind === b.kind && apart <= TOGETHER_MS) {
    return `${both}, and goes to the same vendor`
  }
  // A vendor makes its own tags fail, but neither keeps another's from running nor slows it down.
  if (a.failing === b.failing && (a.failing === 'missing' || a.failing === 'slow') && apart <= togetherMs(a, b)) {
    return `${both}, on the same site: no vendor does that to another's tags`
  }
  const isOneField = a.field !== null && a.field === b.field && a.kind === b.kind && a.probeType === b.probeType
  if (isOneField && apart <= FIELD_MS) return `${both}, and is the same field`
  const isOneForm = a.kind === 'quality' && a.probeType === b.probeType && a.tag === null && b.tag === null
  return isOneForm && apart <= TOGETHER_MS ? `${both}, on the same site` : null
}

/**
 * That a tag of rare events is missing is known by the hour only, and then dated from a whole one: it may have begun later than that, but
 * not earlier.
 */
function togetherMs(a: Sign, b: Sign): number {
  const first = a.startedAt <= b.startedAt ? a : b
  return TOGETHER_MS + (first.failing === 'missing' && first.startedAt % HOUR === 0 ? HOUR : 0)
}

/** There is one server, one consent platform and one sender on a site. */
const isWhole = ({ kind }: Sign): boolean =>
  kind === 'own' || kind === 'server' || kind === 'release' || kind === 'consent' || kind === 'silence'

/** Whether the other began during a fault that is certain; a sender of which too little comes and then nothing is one, however little that was. */
const isDuring = (fault: Sign, other: Sign): boolean =>
  (fault.isCritical || (fault.probeType === 'data_volume' && other.probeType === 'data_freshness')) &&
  fault.kind !== 'release' &&
  other.startedAt >= fault.startedAt &&
  other.startedAt <= fault.startedAt + HARD_MS &&
  (fault.resolvedAt === null || other.startedAt <= fault.resolvedAt)

const isSameTag = (a: Sign, b: Sign): boolean =>
  (a.tag !== null && a.tag === b.tag) || (a.vendor !== null && a.vendor === b.vendor)

/** Of the releases (epoch ms) the last one that explains the sign; null where none does. */
export function releaseBehind(sign: Sign, releases: readonly number[]): number | null {
  if (rankOf(sign.kind) <= rankOf('release') || sign.kind === 'other') return null
  const fitting = releases.filter((at) => isAfterRelease(sign, at))
  return fitting.length === 0 ? null : Math.max(...fitting)
}

export const isAfterRelease = (sign: Sign, at: number): boolean =>
  at <= sign.startedAt + Math.max(RELEASE_SEEN_MS, sign.resolutionMs, unseenMs(sign)) &&
  sign.startedAt <= at + RELEASE_MS

/** A missing tag is dated from when it was last seen to run, and of rare events that is long before a version stopped it. */
const unseenMs = ({ failing, startedAt, openedAt }: Sign): number =>
  failing === 'missing' ? Math.min(openedAt - startedAt, LOOKS_BACK_MS) : 0

/** `began 3 min after X` */
export function whenIt({ startedAt }: Pick<Sign, 'startedAt'>, at: number, what: string): string {
  const apart = startedAt - at
  if (Math.abs(apart) < MINUTE) return `began together with ${what}`
  return `began ${duration(Math.abs(apart))} ${apart > 0 ? 'after' : 'before'} ${what}`
}
