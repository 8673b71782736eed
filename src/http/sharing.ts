import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { isGone, onceGone, RequestSlots, type SlotLimits, UnreadAnswers, type UnreadLimits } from './request-slots.ts'
import type { HttpApp } from './schemas.ts'

/** Kinds of work that share slots: `report` may read for seconds, `usual` for milliseconds. */
type SharedWork = 'usual' | 'report'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whom the request counts for where callers share something out: an address, of IPv6 a /64. */
    caller: string
  }
  interface FastifyContextConfig {
    /** `none`: the route needs no slot. It does next to nothing, or waits for others. Default `usual`. */
    work?: SharedWork | 'none'
  }
}

export const SHARES: Readonly<Record<SharedWork, SlotLimits>> = {
  // Two slots are always left for others.
  usual: { total: 8, perCaller: 6, waiting: 200, patienceMs: 30_000 },
  // Two for a page that shows several; one for a caller who asks for more than any page does.
  report: { total: 3, perCaller: 2, flood: 12, waiting: 50, patienceMs: 20_000 },
}

const UNREAD: UnreadLimits = {
  counted: 16_384,
  perCaller: 16_777_216,
  total: 134_217_728,
  stalledMs: 10_000,
  longestMs: 120_000,
}
/** What counts for an answer that is read from a file or made while it is sent, bytes: what waits of it in memory. */
const STREAMED = 262_144

/** A slot, and whether the handler has it at work: then it is not free before that ends. */
interface Held {
  giveBack: () => void
  isWorkedOn: boolean
}

/**
 * Lets callers share what is done at once: a request waits for a slot before its handler runs, and gives it back with its
 * answer, so that a slow reader holds none, and one who hung up holds his until the work for him has ended. Nothing is begun for a caller who does not read what it asked for.
 */
export function shareWork(app: HttpApp, callerOf: (request: IncomingMessage) => string): void {
  const mayBegin = (caller: string): boolean => unread.hasRoomFor(caller)
  const slots = { usual: new RequestSlots(SHARES.usual, mayBegin), report: new RequestSlots(SHARES.report, mayBegin) }
  const unread = new UnreadAnswers(UNREAD, () => {
    for (const some of Object.values(slots)) some.fill()
  })
  const held = new WeakMap<FastifyRequest, Held>()

  app.decorateRequest('caller', '')
  app.addHook('onRequest', async (request) => {
    request.caller = callerOf(request.raw)
  })
  app.addHook('preHandler', async (request, reply) => {
    const { work = 'usual' } = request.routeOptions.config
    if (work === 'none') return
    const giveBack = await slots[work].take(request.caller, reply.raw)
    if (giveBack === null || isGone(reply.raw)) {
      giveBack?.()
      // The caller has gone: there is no one to answer.
      reply.hijack()
      return reply
    }
    const slot: Held = { giveBack, isWorkedOn: false }
    held.set(request, slot)
    // An exchange that the connection's end, or a malformed request behind it, has cut off is never sent, and its handler may not
    // have been called. One that was called continues: a caller who asks and hangs up, again and again, would else have any number at work.
    onceGone(reply.raw, () => {
      if (!slot.isWorkedOn) giveBack()
    })
    return
  })
  app.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = function (request, reply) {
      const result: unknown = handler.call(this, request, reply)
      const slot = held.get(request)
      // A reply is a promise as well, of its end.
      if (slot === undefined || result === reply || !(result instanceof Promise)) return result
      slot.isWorkedOn = true
      return result.finally(slot.giveBack)
    }
  })
  app.addHook('onSend', async (request, reply, payload) => {
    unread.add(reply.raw, request.caller, sizeOf(payload))
    held.get(request)?.giveBack()
    return payload
  })
}

function sizeOf(payload: unknown): number {
  if (payload === null || payload === undefined) return 0
  return typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : STREAMED
}
