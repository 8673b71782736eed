import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { networkOf } from './access/throttle.ts'
import { isGone, onceGone, RequestSlots, type SlotLimits, UnreadAnswers, type UnreadLimits } from './request-slots.ts'
import type { HttpApp } from './schemas.ts'

/**
 * Kinds of work that share slots: `report` may read for seconds, `usual` for milliseconds. Sign-ins have slots of their own, so
 * that no one else waits for them: a `password` is compared one at a time, and strangers may send any number; an identity
 * `provider` may hang, and people should then still get in with a password.
 */
type SharedWork = 'usual' | 'report' | 'password' | 'provider'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller that the request counts for in shared limits: an address, for IPv6 a /64. */
    caller: string
    /** Lets others have its slot, for a handler that has done its work and only waits before it answers. */
    giveBackSlot: () => void
  }
  interface FastifyContextConfig {
    /** `none`: the route needs no slot, as it does next to nothing or waits for others. Default `usual`. */
    work?: SharedWork | 'none'
  }
}

export const SHARES: Readonly<Record<SharedWork, SlotLimits>> = {
  // No caller can take the last two slots.
  usual: { total: 8, perCaller: 6, waiting: 200, patienceMs: 30_000 },
  // Two for a page that shows several reports; one for a caller who requests more than any page does.
  report: { total: 3, perCaller: 2, flood: 12, waiting: 50, patienceMs: 20_000 },
  password: { total: 4, perCaller: 2, waiting: 100, patienceMs: 20_000 },
  provider: { total: 8, perCaller: 4, waiting: 100, patienceMs: 20_000 },
}

const UNREAD: UnreadLimits = {
  counted: 16_384,
  perCaller: 16_777_216,
  total: 134_217_728,
  stalledMs: 10_000,
  longestMs: 120_000,
}
/** Bytes counted for an answer that is streamed: what it holds in memory. */
const STREAMED = 262_144

/** A slot, and whether a handler is still working: then it is not free until the handler ends. */
interface Held {
  giveBack: () => void
  isWorkedOn: boolean
}

/**
 * Makes callers share the work done at once. A request waits for a slot before its handler runs and returns it with its answer,
 * so that a slow reader holds none. A caller who hangs up keeps the slot until the work has ended. Nothing is begun for a caller
 * who does not read what it requested.
 */
export function shareWork(app: HttpApp, callerOf: (request: IncomingMessage) => string): void {
  const mayBegin = (caller: string): boolean => unread.hasRoomFor(caller)
  const slots = {
    usual: new RequestSlots(SHARES.usual, mayBegin),
    report: new RequestSlots(SHARES.report, mayBegin),
    password: new RequestSlots(SHARES.password),
    provider: new RequestSlots(SHARES.provider),
  }
  const unread = new UnreadAnswers(UNREAD, () => {
    for (const some of Object.values(slots)) some.fill()
  })
  const held = new WeakMap<FastifyRequest, Held>()

  app.decorateRequest('caller', '')
  app.decorateRequest('giveBackSlot', function () {
    held.get(this)?.giveBack()
  })
  app.addHook('onRequest', async (request) => {
    request.caller = callerOf(request.raw)
  })
  app.addHook('preHandler', async (request, reply) => {
    const { work = 'usual' } = request.routeOptions.config
    if (work === 'none') return
    // One customer of a provider may have 65,536 callers.
    const caller = work === 'password' || work === 'provider' ? networkOf(request.caller) : request.caller
    const giveBack = await slots[work].take(caller, reply.raw)
    if (giveBack === null || isGone(reply.raw)) {
      giveBack?.()
      // The caller has gone: there is no one to answer.
      reply.hijack()
      return reply
    }
    const slot: Held = { giveBack, isWorkedOn: false }
    held.set(request, slot)
    // An exchange cut off by the end of its connection, or by a malformed request behind it, is never sent, and its handler may
    // not have been called. A handler that was called keeps its slot: otherwise a caller who requests and hangs up repeatedly
    // could have any number at work.
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
      // A reply is a promise as well, which resolves at its end.
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
