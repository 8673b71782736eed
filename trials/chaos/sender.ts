import type { SiteKey } from '../../testkit/api.ts'

/**
 * `unsent`: nothing listened or there was no room (503), so that it must not be counted. `unsure`: an error after the request
 * was taken in, or no answer. A number is any other status: under none of these faults is one to be expected.
 */
export type SendResult = 'acknowledged' | 'unsent' | 'unsure' | number

/** Longer than any time limit of the service: a request that waits longer was forgotten. */
const ANSWER_TIMEOUT_MS = 40_000

/**
 * Sends one request. Two at the same time go over two connections.
 *
 * @param body a payload as JSON
 */
export async function sendEvent(
  url: string,
  site: SiteKey,
  body: string,
  idempotencyKey?: string,
): Promise<SendResult> {
  try {
    const response = await fetch(`${url}/ingest`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-service-key': site.ingest_key,
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body,
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
    await response.arrayBuffer()
    if (response.status === 200) return 'acknowledged'
    if (response.status === 503) return 'unsent'
    return response.status === 500 ? 'unsure' : response.status
  } catch (thrown) {
    return wasRefused(thrown) ? 'unsent' : 'unsure'
  }
}

function wasRefused(thrown: unknown): boolean {
  const cause = thrown instanceof Error ? thrown.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
}
