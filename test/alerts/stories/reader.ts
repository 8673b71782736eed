import { MINUTE } from '../../../src/lib/index.ts'
import type { AlertMessage, Message, MessageGroup } from '../../../src/notifications/index.ts'
import type { Severity } from '../../../src/notifications/message.ts'

/** What someone who reads nothing but one channel believes of an incident. */
interface Belief {
  isOpen: boolean
  severity: Severity
  /** What the last message said, which a reminder may say without being news. */
  saidSeverity: Severity
  /** It was said to flap, or passed on, as a warning: that it is critical again is news. */
  mayRise: boolean
  /** When it was last said, epoch ms. */
  saidAt: number
  /** The channel was switched off since, or its address died before what came was noted: what follows may come, or may not. */
  isStale?: boolean
}

export interface ReaderOptions {
  /** People, whom too many messages tire; machines take what they know already. */
  isPerson: boolean
  takesWarnings: boolean
  /** What the client wants to be notified of. */
  wantsEnds: boolean
  wantsEscalations: boolean
  /** Was added, switched on or put on call at some time, and may get what follows an opening that others were sent. */
  mayJoin: boolean
  /** A service that is notified of each end, whatever people want. */
  isKeeper?: boolean
  /** Each message has come as soon as it was written. */
  isPrompt?: boolean
}

const OF_HANDLING: readonly string[] = ['acknowledged', 'unacknowledged']

/** Reads all that comes over one channel, and finds what contradicts what came before. */
export class Reader {
  /** By the incident's id. */
  readonly beliefs = new Map<string, Belief>()
  readonly options: ReaderOptions

  constructor(options: ReaderOptions) {
    this.options = options
  }

  /** It may have missed what came before. */
  join(): void {
    this.options.mayJoin = true
  }

  /** The channel is no more, or will be silent for a while. */
  leave(): void {
    this.join()
    for (const belief of this.beliefs.values()) belief.isStale = true
  }

  /** What came meanwhile went to an address that was no more: an incident may have become a warning since. */
  miss(): void {
    for (const belief of this.beliefs.values()) belief.mayRise = true
  }

  /** What came last of these incidents was not noted, and will not come again. */
  doubt(incidentIds: readonly string[]): void {
    for (const id of incidentIds) {
      const belief = this.beliefs.get(id)
      if (belief !== undefined) belief.isStale = true
    }
  }

  /** @returns what is wrong with the message, in words */
  read(message: Message | MessageGroup, now: number): string[] {
    if (message.kind === 'group') return message.messages.flatMap((one) => this.#readOne(one, now))
    if (!('alert' in message)) return []
    return [...(message.over ?? []), message].flatMap((one) => this.#readOne(one, now))
  }

  #readOne(message: AlertMessage, now: number): string[] {
    const { kind, alert, incident, untold } = message
    const id = incident?.id ?? ''
    const known = this.beliefs.get(id)
    const wrong = this.#wrongWith(message, known?.isOpen === true ? known : null, now)
    if (kind !== 'resolved' && untold === undefined && alert.resolved_at !== null) wrong.push('it has an end')
    if (alert.resolved_at !== null && alert.resolved_at < alert.since) wrong.push('it ended before it began')
    this.beliefs.set(id, believed(message, known, now))
    return wrong.map((why) => `${kind} ${alert.severity} “${alert.title}” of incident ${id.slice(9, 13)}: ${why}`)
  }

  #wrongWith({ kind, alert, incident, untold }: AlertMessage, open: Belief | null, now: number): string[] {
    const { isPerson, wantsEnds, wantsEscalations, mayJoin, isPrompt, isKeeper = false } = this.options
    if (open?.isStale === true) return []
    const takesWarnings = this.options.takesWarnings && !mayJoin
    const isCritical = alert.severity === 'critical'
    switch (kind) {
      case 'flapping':
        return []
      case 'opened': {
        // What ended within a silence, unsaid, may be back, or back and worse or explained by the time that it is sent.
        const isBack = (incident?.note ?? null) !== null || untold !== undefined
        return open !== null && wantsEnds && !isBack ? ['it was known to be open'] : []
      }
      case 'resolved':
        // Of a channel that was deleted, and added again under the same key, the end may come after what the new one says.
        if (open === null) return untold === undefined && !(isKeeper && mayJoin) ? ['it was not known to be open'] : []
        return isPerson && open.saidSeverity === 'critical' && !isCritical ? ['it was known to be critical'] : []
      case 'escalated':
        if (!isCritical) return ['it is none']
        // For what takes nothing less it is the opening.
        if (!takesWarnings) return []
        if (open === null) return ['it was not known to be open']
        return isPerson && open.severity === 'critical' && !open.mayRise ? ['it was known to be critical'] : []
      case 'reminder':
        if (isPrompt === true && open !== null && incident?.note === null && now - open.saidAt < MINUTE)
          return ['it was said a moment ago']
        // It says itself how bad it is by now.
        return open === null && takesWarnings ? ['it was not known to be open'] : []
      default:
        if (open === null) return takesWarnings ? ['it was not known to be open'] : []
        // Who was put on to it by a reminder learns from what comes next that others knew it as critical.
        return wantsEscalations &&
          isCritical &&
          open.severity === 'warning' &&
          !open.mayRise &&
          !OF_HANDLING.includes(kind)
          ? ['no one said that it is critical']
          : []
    }
  }
}

function believed({ kind, alert: { severity } }: AlertMessage, known: Belief | undefined, now: number): Belief {
  const said = { saidSeverity: severity, saidAt: now }
  switch (kind) {
    case 'opened':
    case 'escalated':
      return { ...said, isOpen: true, severity, mayRise: false }
    case 'resolved':
      return { ...said, isOpen: false, severity, mayRise: false }
    case 'reminder':
    case 'flapping':
      return {
        ...said,
        isOpen: true,
        severity: known?.isOpen === true ? worse(known.severity, severity) : severity,
        mayRise: true,
      }
    default:
      return known?.isOpen === true ? { ...known, ...said } : { ...said, isOpen: true, severity, mayRise: true }
  }
}

const worse = (a: Severity, b: Severity): Severity => (a === 'critical' ? a : b)
