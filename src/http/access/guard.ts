import type { FastifyRequest } from 'fastify'
import type { HttpApp } from '../types.ts'
import { NOBODY } from './access.ts'
import type { Gate } from './gate.ts'

/** Puts the gate before every route under `/api` that is not declared public, and before unknown paths there. */
export function guardApi(app: HttpApp, gate: Gate): void {
  app.decorateRequest('access')
  app.addHook('onRequest', async (request) => {
    request.access = NOBODY
    if (!isUnderApi(request)) return
    if (request.routeOptions.config.access === 'public') gate.refuseForeignPage(request)
    else request.access = gate.admit(request)
  })
}

/** By the pattern of the route that will answer, not by the text of the address: there is one spelling of it. */
function isUnderApi(request: FastifyRequest): boolean {
  const path = request.routeOptions.url ?? request.url
  return path === '/api' || path.startsWith('/api/') || path.startsWith('/api?')
}
