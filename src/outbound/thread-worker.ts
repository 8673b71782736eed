import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { asError, lowerPriority } from '../lib/index.ts'
import { parseOutboundAllow } from './allow.ts'
import { OutboundError } from './error.ts'
import { createOutbound, type Outbound } from './outbound.ts'
import type { ThreadFailure, ThreadOrder, ThreadQuestion, ThreadReply, ThreadSettings } from './thread.ts'

/** Entry point of the thread behind `OutboundThread`: makes the requests it receives, any number at once. */
function serve(port: MessagePort, { allow, userAgent }: ThreadSettings): void {
  let now = 0
  const outbound = createOutbound({ allow: parseOutboundAllow(allow), userAgent, clock: { now: () => now } })
  const underWay = new Map<number, AbortController>()

  const answer = async (id: number, question: ThreadQuestion): Promise<ThreadReply> => {
    const controller = new AbortController()
    underWay.set(id, controller)
    try {
      return { id, ok: true, answer: await ask(outbound, question, controller.signal) }
    } catch (thrown) {
      return { id, ok: false, failure: failureOf(thrown) }
    } finally {
      underWay.delete(id)
    }
  }

  port.on('message', (order: ThreadOrder) => {
    if (order.question === 'abort') {
      underWay.get(order.id)?.abort()
      return
    }
    now = order.now
    void answer(order.id, order.question).then((reply) => port.postMessage(reply, handedOver(reply)))
  })
}

/** Transfers a body instead of copying it. */
const handedOver = (reply: ThreadReply): ArrayBuffer[] =>
  reply.ok && 'bytes' in reply.answer ? [reply.answer.bytes.buffer] : []

const ask = (outbound: Outbound, question: ThreadQuestion, signal: AbortSignal) =>
  question.kind !== 'resolve'
    ? outbound[question.kind](question.url, { ...question.request, signal })
    : outbound.resolve(question.host, { ...question.options, signal })

function failureOf(thrown: unknown): ThreadFailure {
  if (!(thrown instanceof OutboundError)) return { message: asError(thrown).message }
  const { message, kind, phase, certificate } = thrown
  return { message, outbound: { kind, phase, certificate } }
}

if (parentPort !== null) {
  lowerPriority()
  serve(parentPort, workerData as ThreadSettings)
}
