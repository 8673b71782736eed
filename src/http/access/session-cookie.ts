import '@fastify/cookie'
import type { FastifyReply } from 'fastify'
import { SECOND } from '../../lib/index.ts'
import { SESSION_COOKIE } from './access.ts'

/** The cookie that holds a session. */
export interface SessionCookie {
  set: (reply: FastifyReply, value: string, lastsMs: number) => FastifyReply
  clear: (reply: FastifyReply) => FastifyReply
}

/**
 * No page can read it, and no foreign page has it sent along.
 *
 * @param publicUrl where people reach the service; https there means https only, as it does where a proxy that is trusted says that the browser came by it
 */
export function sessionCookie(publicUrl: string | null): SessionCookie {
  const isHttps = publicUrl?.startsWith('https:') === true
  const optionsFor = ({ request }: FastifyReply) =>
    ({ path: '/', httpOnly: true, sameSite: 'strict', secure: isHttps || request.protocol === 'https' }) as const
  return {
    set: (reply, value, lastsMs) =>
      reply.setCookie(SESSION_COOKIE, value, { ...optionsFor(reply), maxAge: lastsMs / SECOND }),
    clear: (reply) => reply.clearCookie(SESSION_COOKIE, optionsFor(reply)),
  }
}
