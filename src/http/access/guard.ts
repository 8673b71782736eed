import type { FastifyRequest } from 'fastify'
import type { HttpApp } from '../types.ts'
import { NOBODY } from './access.ts'
import type { Gate } from './gate.ts'

/**
 * Puts the gate before every route: the name by which the service is called, and under `/api` the key, but for routes that
 * are declared public. Unknown paths too.
 */
export function guardApi(app: HttpApp, gate: Gate): void {
  app.decorateRequest('access')
  app.addHook('onRequest', async (request) => {
    request.access = NOBODY
    const { access, host = 'own-while-open' } = request.routeOptions.config
    if (host === 'own' || (host === 'own-while-open' && !gate.authenticationRequired)) gate.refuseForeignHost(request)
    if (!isUnderApi(request)) return
    if (access === 'public') gate.refuseForeignPage(request)
    else request.access = await gate.admit(request)
  })
}

/** By the pattern of the route that will answer, not by the text of the address: there is one spelling of it. */
function isUnderApi(request: FastifyRequest): boolean {
  const path = request.routeOptions.url ?? request.url
  return path === '/api' || path.startsWith('/api/') || path.startsWith('/api?')
}
