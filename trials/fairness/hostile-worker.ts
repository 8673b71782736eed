import { constants, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { answerCalls } from '../../testkit/processes/worker-calls.ts'
import { Random } from '../../testkit/random.ts'
import { ANOTHER_ADDRESS, Herd } from '../fuzz/pressure/herd.ts'
import { type HostileKind, hostileKinds } from './kinds.ts'
import { type HostilePlan, type NoteAnswer, sendTogether } from './together.ts'

export interface HostileResult {
  sent: number
  /** Answers by status; `none` where the connection ended before. */
  statuses: Record<string, number>
  acceptedEvents: number
  /** Events of requests whose answer is not known: they may be counted or not. */
  doubtfulEvents: number
}

const ANSWER_TIMEOUT_MS = 30_000
const TICK_MS = 5

async function send(plan: HostilePlan): Promise<HostileResult> {
  const kind = hostileKinds.find(({ name }) => name === plan.kind)
  if (kind === undefined) throw new Error(`there is no hostile sender called ${plan.kind}`)
  const result: HostileResult = { sent: 0, statuses: {}, acceptedEvents: 0, doubtfulEvents: 0 }
  const note: NoteAnswer = (status) => {
    result.sent += 1
    result.statuses[status ?? 'none'] = (result.statuses[status ?? 'none'] ?? 0) + 1
    if (status === 200) result.acceptedEvents += kind.events
    // 500: the commit's outcome may be unknown.
    else if (status === null || status === 500) result.doubtfulEvents += kind.events
  }
  if (kind.together) await sendTogether(kind, plan, note)
  else await sendSteadily(kind, plan, note)
  return result
}

/** Requests that readers of reports send in one go, and whose answers they never read. */
export interface UnreadPlan {
  port: number
  path: string
  seconds: number
}

const UNREAD_CONNECTIONS = 500
const UNREAD_REQUESTS = 20

async function leaveUnread({ port, path, seconds }: UnreadPlan): Promise<void> {
  const first = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(UNREAD_REQUESTS)
  const herd = new Herd(port, UNREAD_CONNECTIONS, { first, drip: '', isReading: false, from: ANOTHER_ADDRESS })
  await sleep(seconds * 1_000)
  herd.end()
}

// Healthy senders are measured on the same core. Attackers send from machines of their own, and must not take the time of that clock:
// the last bytes of 220 MB took the generator's core for up to 100 ms.
setPriority(constants.priority.PRIORITY_LOW)

const calls = { send, leaveUnread }
export type HostileCalls = typeof calls

answerCalls(calls)

/** Sends at the kind's pace, as far as its connections are answered; waits for the last answers. */
async function sendSteadily(kind: HostileKind, { url, key, seconds, seed }: HostilePlan, note: NoteAnswer) {
  const random = new Random(seed)
  const agent = new Agent({ connections: kind.connections, pipelining: 1 })
  const startedAt = performance.now()
  const inFlight = new Set<Promise<void>>()
  let number = seed * 1_000_000
  let sent = 0
  const send = async (body: string): Promise<void> => {
    try {
      const answer = await request(`${url}/ingest`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-service-key': key },
        body,
        dispatcher: agent,
        headersTimeout: ANSWER_TIMEOUT_MS,
        bodyTimeout: ANSWER_TIMEOUT_MS,
      })
      await answer.body.dump()
      note(answer.statusCode)
    } catch {
      note(null)
    }
  }
  for (;;) {
    const elapsed = (performance.now() - startedAt) / 1_000
    if (elapsed >= seconds) break
    while (sent < elapsed * kind.perSecond && inFlight.size < kind.connections) {
      const sending: Promise<void> = send(kind.body(number++, random)).finally(() => inFlight.delete(sending))
      inFlight.add(sending)
      sent += 1
    }
    await sleep(TICK_MS)
  }
  await Promise.all(inFlight)
  await agent.close()
}
