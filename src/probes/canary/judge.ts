import { isoTime, namesInWords, SECOND } from '../../lib/index.ts'
import type { OutboundAnswer } from '../../outbound/index.ts'
import type { ProbeOutcome } from '../probe-type.ts'
import { shownAddress } from '../tag-server/addresses.ts'
import { challengeIn, challengeMessage } from '../tag-server/challenge.ts'
import { type CheckFinding, statusHint } from '../tag-server/judge.ts'
import { type CanaryMemory, overdue } from './memory.ts'

type Verdict = Pick<ProbeOutcome, 'status' | 'message' | 'reason' | 'startedAt'>

interface ArrivalFacts {
  memory: CanaryMemory
  /** Whether the latest canary that arrived was not known before, and no downtime of this service can have delayed it. */
  isTelling: boolean
  limitMs: number
  now: number
  /** When a process was last known to accept events, epoch ms; null when unknown. */
  listened: number | null
  /** Other tags that ran on the last canary. */
  tags: readonly string[]
  /** Says why canaries do not arrive, as far as this service can see; called only when one is missing. */
  why: () => Promise<string>
}

/**
 * Judges whether canaries arrive. A single lost one is no fault, because tags send an event only once. So one counts as
 * missing when it is overdue and no later one has arrived.
 * The same goes for one that was slow, which a run may first see long after its time.
 */
export async function judgeArrivals(facts: ArrivalFacts): Promise<Verdict> {
  const { memory, isTelling, limitMs, now, listened, tags, why } = facts
  const { last } = memory
  const limit = `${Math.round(limitMs / SECOND)} s`
  const [missing] = overdue(memory, limitMs, now, listened)
  if (missing === undefined) {
    if (last === null) {
      const message = 'The first canary is on its way: it was delivered and has not arrived yet'
      return { status: 'ok', reason: 'no_data', message }
    }
    if (isTelling && last.arrivedAt - last.sentAt > limitMs) {
      const help = 'the tag server is slow, or the tag sends events in batches and needs a larger limit_seconds'
      const message = `The canary of ${isoTime(last.sentAt)} took ${lag(last)} to arrive, longer than ${limit}: ${help}`
      return { status: 'critical', message, startedAt: last.sentAt }
    }
    const more = tags.length === 0 ? '' : `. Other tags ran on it: ${namesInWords(tags)}`
    return { status: 'ok', message: `The canary of ${isoTime(last.sentAt)} arrived after ${lag(last)}${more}` }
  }
  if (last === null) {
    const help =
      'No canary has ever arrived. Check that a client of the server container claims the request, that the tag fires on its event, ' +
      'and that no exclusion trigger is on the tag itself'
    return { status: 'error', message: `${help}. ${await why()}` }
  }
  const message = `The canary of ${isoTime(missing.at)} was delivered and did not arrive within ${limit}. ${await why()}`
  return { status: 'critical', message, startedAt: missing.at }
}

const lag = ({ sentAt, arrivedAt }: { sentAt: number; arrivedAt: number }): string =>
  `${(Math.max(0, arrivedAt - sentAt) / SECOND).toFixed(1)} s`

/** Judges the answer to a delivery. A client that claims the request answers 200 or 204. */
export function judgeDelivery(answer: OutboundAnswer): CheckFinding {
  const { url, status, location, headers } = answer
  const where = shownAddress(url)
  const delivery = (message: string): CheckFinding => ({ check: 'delivery', status: 'critical', message })
  const challenge = challengeIn(answer)
  if (challenge !== null) return { ...delivery(challengeMessage(challenge, where, status)), status: 'error' }
  if (status >= 200 && status < 300) {
    const isPage = /html/i.test(headers['content-type'] ?? '')
    const page = isPage ? ' with a web page, which no client of a server container does' : ''
    return { check: 'delivery', status: 'ok', message: `${where} answered ${status}${page}` }
  }
  if (location !== null) {
    return delivery(`${where} redirects (${status}) to ${shownAddress(location)}: browsers lose the event on the way`)
  }
  return delivery(`${where} answered ${status}${hint(status)}`)
}

const hint = (status: number): string =>
  status === 400 || status === 404
    ? ': no client of the container claims the request, or the path is wrong'
    : statusHint(status)
