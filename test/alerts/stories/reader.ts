import type { AlertMessage, Message, MessageGroup } from '../../../src/notifications/index.ts'
import type { Severity } from '../../../src/notifications/message.ts'

/** What someone who reads nothing but one channel believes of an incident. */
interface Belief {
  isOpen: boolean
  severity: Severity
  /** It was said to flap as a warning: that it is critical again is news. */
  mayRise: boolean
}

export interface ReaderOptions {
  /** People, whom too many messages tire; machines take what they know already. */
  isPerson: boolean
  takesWarnings: boolean
  /** What the client wants to be notified of. */
  wantsEnds: boolean
  wantsEscalations: boolean
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

  /** @returns what is wrong with the message, in words */
  read(message: Message | MessageGroup): string[] {
    if (message.kind === 'group') return message.messages.flatMap((one) => this.#readOne(one))
    if (!('alert' in message)) return []
    return [...(message.over ?? []), message].flatMap((one) => this.#readOne(one))
  }

  #readOne(message: AlertMessage): string[] {
    const { kind, alert, incident, untold } = message
    const id = incident?.id ?? ''
    const known = this.beliefs.get(id)
    const wrong = this.#wrongWith(message, known?.isOpen === true ? known : null)
    if (kind !== 'resolved' && untold === undefined && alert.resolved_at !== null) wrong.push('it has an end')
    if (alert.resolved_at !== null && alert.resolved_at < alert.since) wrong.push('it ended before it began')
    this.beliefs.set(id, believed(message, known))
    return wrong.map((why) => `${kind} ${alert.severity} “${alert.title}” of incident ${id.slice(9, 13)}: ${why}`)
  }

  #wrongWith({ kind, alert, incident, untold }: AlertMessage, open: Belief | null): string[] {
    const { isPerson, takesWarnings, wantsEnds, wantsEscalations } = this.options
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
        if (open === null) return untold === undefined ? ['it was not known to be open'] : []
        return isPerson && open.severity === 'critical' && !isCritical ? ['it was known to be critical'] : []
      case 'escalated':
        if (!isCritical) return ['it is none']
        // For what takes nothing less it is the opening.
        if (!takesWarnings) return []
        if (open === null) return ['it was not known to be open']
        return isPerson && open.severity === 'critical' && !open.mayRise ? ['it was known to be critical'] : []
      case 'reminder':
        // It says itself how bad it is by now.
        return open === null && takesWarnings ? ['it was not known to be open'] : []
      default:
        if (open === null) return takesWarnings ? ['it was not known to be open'] : []
        return wantsEscalations && isCritical && open.severity === 'warning' && !OF_HANDLING.includes(kind)
          ? ['no one said that it is critical']
          : []
    }
  }
}

function believed({ kind, alert: { severity } }: AlertMessage, known: Belief | undefined): Belief {
  switch (kind) {
    case 'opened':
    case 'escalated':
      return { isOpen: true, severity, mayRise: false }
    case 'resolved':
      return { isOpen: false, severity, mayRise: false }
    case 'reminder':
    case 'flapping':
      return {
        isOpen: true,
        severity: known?.isOpen === true ? worse(known.severity, severity) : severity,
        mayRise: true,
      }
    default:
      return known ?? { isOpen: false, severity, mayRise: false }
  }
}

const worse = (a: Severity, b: Severity): Severity => (a === 'critical' ? a : b)
