import { createHmac } from 'node:crypto'
import { SECOND } from '../../lib/index.ts'

/**
 * The headers by which a receiver that knows the secret can verify that a body is from here, and when it was sent: a recorded
 * one that someone replays has an old timestamp.
 *
 * @param at epoch ms; the header has whole seconds
 */
export function signatureHeaders(secret: string, body: string, at: number): Record<string, string> {
  const timestamp = String(Math.floor(at / SECOND))
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return { 'x-tagwarden-timestamp': timestamp, 'x-tagwarden-signature': `sha256=${signature}` }
}
