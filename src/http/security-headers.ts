import type { FastifyReply } from 'fastify'
import type { HttpApp } from './types.ts'

/** A year, and for this host alone: its neighbours under the same domain may not have https. */
const HTTPS_ONLY = 'max-age=31536000'

/**
 * The headers of every answer that says nothing else: of data, which is never a page, belongs into no frame and no cache, and
 * sends no referrer. A route that makes pages, or may be kept, overrides what does not fit.
 *
 * @param publicUrl where people reach the service; https there means https only
 */
export const securityHeaders = (publicUrl: string | null): Readonly<Record<string, string>> => ({
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  // Answers hold keys and addresses; no cache on the way may keep them.
  'cache-control': 'no-store',
  ...(publicUrl?.startsWith('https://') === true ? { 'strict-transport-security': HTTPS_ONLY } : {}),
})

/** Puts them on every answer of the app. Has to come before all other hooks, as any of them may answer. */
export function addSecurityHeaders(app: HttpApp, headers: Readonly<Record<string, string>>): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers)
  })
}

/** Hands on what is set so far to a response that is taken from the framework, which would write no header any more. */
export function keepHeaders(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
}
