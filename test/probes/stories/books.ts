import type { Finding } from '../../../src/detection/index.ts'
import { type EventPayload, FUTURE_LIMIT_MS, PAST_LIMIT_MS } from '../../../src/journal/payload.ts'
import { floorTo, HOUR, MINUTE } from '../../../src/lib/index.ts'

interface Entry {
  /** The minute that it counts in, epoch ms. */
  minute: number
  payload: EventPayload
}

/** What was accepted, in so few words that it cannot be wrong: each figure that a probe names is counted again here. */
export class Books {
  readonly #entries: Entry[] = []

  enter(payload: EventPayload, acceptedAt: number): void {
    const { timestamp_ms: said } = payload
    const isBelieved = said >= acceptedAt - PAST_LIMIT_MS && said <= acceptedAt + FUTURE_LIMIT_MS
    this.#entries.push({ minute: floorTo(isBelieved ? said : acceptedAt, MINUTE), payload })
  }

  /** Events in whole minutes. */
  events(from: number, to: number, name?: string | null): EventPayload[] {
    return this.#entries
      .filter(({ minute }) => minute >= from && minute < to)
      .map(({ payload }) => payload)
      .filter(({ event_name }) => name == null || event_name === name)
  }

  tags(from: number, to: number, tag: string) {
    return this.events(from, to).flatMap(({ tags }) => tags.filter(({ name }) => name === tag))
  }

  /** What is wrong with the figures of a finding, if they can be counted again. */
  faultIn(type: string, { subject, measured, evidence, message }: Finding, now: number): string | null {
    const minutes = Number(evidence.window_minutes)
    const from = now - minutes * MINUTE
    const differs = (what: string, said: unknown, counted: number) =>
      said === counted ? null : `${what}: ${String(said)}, and ${counted} came (“${message}”)`
    switch (type) {
      case 'data_volume':
        return differs('events', measured, this.events(from, now, subject.event_name).length)
      case 'tag_failure_rate': {
        const ran = this.tags(from, now, subject.tag_key ?? '')
        return (
          differs('executions', evidence.executions, ran.length) ??
          differs('failed', evidence.bad, ran.filter(({ status }) => status !== 'success').length)
        )
      }
      case 'vendor_status': {
        const ran = this.tags(from, now, subject.tag_key ?? '')
        return (
          differs('executions', evidence.executions, ran.length) ??
          differs('refused', evidence.bad, ran.filter(({ response }) => response === '4xx').length)
        )
      }
      case 'tag_latency':
        return differs('executions', evidence.timed_executions, this.tags(from, now, subject.tag_key ?? '').length)
      default:
        return this.#faultInShare(type, subject, evidence, message, now)
    }
  }

  /** `… 0 % of 59 “page_view” events in 20 min; …` */
  #faultInShare(
    type: string,
    { event_name, field }: Finding['subject'],
    { present, total }: Finding['evidence'],
    message: string,
    now: number,
  ): string | null {
    const length = lengthIn(/ events in ([^;]+);/.exec(message)?.[1])
    const has = HAS[`${type} ${field}`]
    if (length === null || has === undefined) return null
    const seen = this.events(now - length, now, event_name).filter(has.isAsked ?? (() => true))
    const counted = `${seen.filter(has.isThere).length} of ${seen.length}`
    return `${present} of ${total}` === counted ? null : `${present} of ${total}, and ${counted} came (“${message}”)`
  }
}

type Asks = (payload: EventPayload) => boolean

const HAS: Readonly<Record<string, { isThere: Asks; isAsked?: Asks }>> = {
  'user_data_quality email': { isThere: ({ user_data }) => user_data?.has_email === true },
  'ecommerce_quality value': {
    isThere: ({ ecommerce }) => ecommerce?.has_value === true,
    isAsked: ({ ecommerce }) => ecommerce !== undefined,
  },
  'duplicates event_id': { isThere: ({ identifiers }) => identifiers?.has_event_id === true },
  'identifier_quality fbp': { isThere: ({ identifiers }) => identifiers?.has_fbp === true },
  'consent_signals update': { isThere: ({ consent }) => consent?.updated === true },
}

/** `1 h 20 min` in ms; null where it is rounded. */
function lengthIn(words: string | undefined): number | null {
  const [, hours = '0', minutes = '0'] = /^(?:(\d+) h)? ?(?:(\d+) min)?$/.exec(words ?? '') ?? []
  const length = Number(hours) * HOUR + Number(minutes) * MINUTE
  return length > 0 ? length : null
}
