import { DAY, duration, HOUR, MINUTE, quoted } from '../../lib/index.ts'
import { rankOf, type Sign } from './sign.ts'

/**
 * A symptom may show this long before its cause: a probe runs every few minutes, and what is counted is dated from the last time
 * that it was fine.
 */
const BEFORE_MS = 15 * MINUTE
/** A symptom may begin this long after its cause has ended: sites need time to send again, and probes to see it. */
export const AFTER_MS = 15 * MINUTE
/**
 * A cause that is only a warning explains what begins within this time, and not all that begins while it lasts: a certificate that
 * expires in two weeks is a warning all that time, and anything else that breaks meanwhile is unrelated.
 */
const MILD_MS = 30 * MINUTE
/**
 * The symptoms of a critical cause show within a day, even those of rare events. A cause that lasts longer may be a wrong check, or
 * a fault that people live with, which must not hide other faults from them.
 */
const HARD_MS = DAY
/** A version is the first suspect for this long: after that most sites have seen every page with it. */
export const RELEASE_MS = 2 * HOUR
/** A check that runs every 15 minutes finds new versions, so what a version breaks may show this long before the version is seen. */
const RELEASE_SEEN_MS = 20 * MINUTE
/** Two probes that watch the same thing may find a fault this far apart: the slower of them runs every 15 minutes. */
const SIDES_MS = 20 * MINUTE
/** A failing tag becomes slow at once; one that becomes slow after this time has another reason. */
const TAG_MS = HOUR
/**
 * Faults of one vendor or page that begin within this time have one cause: of nine independent faults a month, two begin so close
 * together once in five years.
 */
export const TOGETHER_MS = 10 * MINUTE

/** A field that is lost on several events may show this far apart: on a rare event it shows hours later, dated by what arrived before. */
const FIELD_MS = 2 * HOUR

/** `data_volume` looks back this far for a drop that chance does not explain. */
const LOOKS_BACK_MS = 4 * HOUR

/** Returns in words why the cause explains the symptom, or null when it does not. A cause explains only what is weaker than itself. */
export function explanation(cause: Sign, symptom: Sign): string | null {
  if (rankOf(cause.kind) >= rankOf(symptom.kind) || !isWithin(cause, symptom) || !reaches(cause, symptom)) return null
  return `${quoted(symptom.title)} ${whenIt(symptom, cause.startedAt, quoted(cause.title))}, which explains it`
}

/** Returns whether the cause affects what the symptom is about. */
function reaches(cause: Sign, symptom: Sign): boolean {
  // A fault never causes a surge, but a release may make everything count twice.
  if (symptom.isSurge) return cause.kind === 'release'
  // An event is judged by its share of what arrives, so it does not stop because less arrives overall.
  const isPartial = cause.kind === 'silence' && cause.probeType === 'data_volume' && !cause.isTotal
  if (cause.isSurge || (isPartial && symptom.kind === 'event' && symptom.isTotal)) return false
  switch (cause.kind) {
    case 'own':
      // A check that cannot run does not affect tags and events: these are judged by data that arrived.
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

/** Returns whether the symptom began at a time when the cause can have caused it. */
function isWithin(cause: Sign, symptom: Sign): boolean {
  // A warning, for example of a certificate that expires in two weeks, explains nothing that may have begun long before it.
  const rough = cause.isCritical ? roughMs(symptom, cause) : symptom.resolutionMs
  if (symptom.startedAt + rough < cause.startedAt - BEFORE_MS) return false
  // A change on the page shows at once, like a release.
  if (cause.kind === 'release' || cause.kind === 'consent') return symptom.startedAt <= cause.startedAt + RELEASE_MS
  // A check that cannot run is only ever a warning.
  if (!cause.isCritical || cause.kind === 'own') return symptom.startedAt <= cause.startedAt + MILD_MS
  if (cause.kind === 'tag' && symptom.startedAt > cause.startedAt + TAG_MS + symptom.resolutionMs) return false
  const until = cause.resolvedAt === null ? Number.POSITIVE_INFINITY : cause.resolvedAt + AFTER_MS
  return symptom.startedAt <= Math.min(until, cause.startedAt + HARD_MS)
}

/**
 * Returns how inexactly the symptom's beginning is known, ms. Too little volume on a quiet site is found by looking back over hours
 * and may have begun at any time in them; but what was found before its cause is no symptom of it.
 */
function roughMs({ kind, probeType, openedAt, resolutionMs }: Sign, cause: Sign): number {
  const isVolume = probeType === 'data_volume' && kind === 'silence'
  return isVolume && openedAt >= cause.startedAt ? LOOKS_BACK_MS : resolutionMs
}

/** Returns in words why two signs have one cause although neither explains the other, or null when they do not. */
export function kinship(a: Sign, b: Sign): string | null {
  if (a.isSurge !== b.isSurge) return null
  const apart = Math.abs(a.startedAt - b.startedAt)
  const both = `${quoted(b.title)} ${whenIt(b, a.startedAt, quoted(a.title))}`
  if (a.kind === b.kind && isWhole(a) && (apart <= SIDES_MS || isDuring(a, b) || isDuring(b, a))) {
    return `${both}: both are about the same thing`
  }
  // However rarely they run: until it is accepted again, none can.
  if (a.isLockedOut && b.isLockedOut && a.resolvedAt === null) return `${both}: neither has access to Google`
  if (a.kind === 'event' && b.kind === 'event') {
    return apart <= TOGETHER_MS + Math.max(a.resolutionMs, b.resolutionMs) ? `${both}, on the same site` : null
  }
  if (a.tag !== null && a.tag === b.tag && a.kind === b.kind && apart <= SIDES_MS) return `${both}, and is the same tag`
  if (a.vendor !== null && a.vendor === b.vendor && a.kind === b.kind && apart <= TOGETHER_MS) {
    return `${both}, and goes to the same vendor`
  }
  // A vendor can make its own tags fail, but cannot stop or slow down another vendor's.
  if (a.failing === b.failing && (a.failing === 'missing' || a.failing === 'slow') && apart <= togetherMs(a, b)) {
    return `${both}, on the same site: no vendor does that to another's tags`
  }
  const isOneField = a.field !== null && a.field === b.field && a.kind === b.kind && a.probeType === b.probeType
  if (isOneField && apart <= FIELD_MS) return `${both}, and is the same field`
  const isOneForm = a.kind === 'quality' && a.probeType === b.probeType && a.tag === null && b.tag === null
  return isOneForm && apart <= TOGETHER_MS ? `${both}, on the same site` : null
}

/**
 * Returns how far apart two missing or slow tags may begin, ms. A missing tag of rare events is found by the hour and dated from
 * the start of one: it may have begun later than that, but not earlier.
 */
function togetherMs(a: Sign, b: Sign): number {
  const first = a.startedAt <= b.startedAt ? a : b
  return TOGETHER_MS + (first.failing === 'missing' && first.startedAt % HOUR === 0 ? HOUR : 0)
}

/** Whether a site has only one of its kind: one server, one consent platform, one sender. */
const isWhole = ({ kind }: Sign): boolean =>
  kind === 'own' || kind === 'server' || kind === 'release' || kind === 'consent' || kind === 'silence'

/**
 * Returns whether the other sign began during a critical fault. A sender whose volume drops and then stops is one as well, even if
 * the drop was only a warning.
 */
const isDuring = (fault: Sign, other: Sign): boolean =>
  (fault.isCritical || (fault.probeType === 'data_volume' && other.probeType === 'data_freshness')) &&
  fault.kind !== 'release' &&
  other.startedAt >= fault.startedAt &&
  other.startedAt <= fault.startedAt + HARD_MS &&
  (fault.resolvedAt === null || other.startedAt <= fault.resolvedAt)

const isSameTag = (a: Sign, b: Sign): boolean =>
  (a.tag !== null && a.tag === b.tag) || (a.vendor !== null && a.vendor === b.vendor)

/** Returns the last of the releases (epoch ms) that explains the sign, or null. */
export function releaseBehind(sign: Sign, releases: readonly number[]): number | null {
  if (rankOf(sign.kind) <= rankOf('release') || sign.kind === 'other') return null
  const fitting = releases.filter((at) => isAfterRelease(sign, at))
  return fitting.length === 0 ? null : Math.max(...fitting)
}

const isAfterRelease = (sign: Sign, at: number): boolean =>
  at <= sign.startedAt + Math.max(RELEASE_SEEN_MS, sign.resolutionMs, unseenMs(sign)) &&
  sign.startedAt <= at + RELEASE_MS

/**
 * Returns how long before it was found a missing tag may still have run, ms: it is dated from its last run, which for rare events
 * is long before a version stopped it.
 */
const unseenMs = ({ failing, startedAt, openedAt }: Sign): number =>
  failing === 'missing' ? Math.min(openedAt - startedAt, LOOKS_BACK_MS) : 0

/** Returns `began 3 min after X`. */
export function whenIt({ startedAt }: Pick<Sign, 'startedAt'>, at: number, what: string): string {
  const apart = startedAt - at
  if (Math.abs(apart) < MINUTE) return `began together with ${what}`
  return `began ${duration(Math.abs(apart))} ${apart > 0 ? 'after' : 'before'} ${what}`
}
