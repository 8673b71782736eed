import type { SiteKey } from '../../test/support/api.ts'

/**
 * `unsent`: nobody listened or there was no room (503), so that it must not be counted. `unsure`: an error after the request
 * was taken in, or no answer. A number is any other status: under none of these faults is one to be expected.
 */
export type SendResult = 'acknowledged' | 'unsent' | 'unsure' | number

/** Longer than any time limit of the service; whoever waits longer has been forgotten. */
const ANSWER_TIMEOUT_MS = 40_000

/** Sends one event with one tag. */
export async function sendEvent(
  url: string,
  site: SiteKey,
  timestampMs: number,
  idempotencyKey?: string,
): Promise<SendResult> {
  const payload = {
    container_id: 'GTM-CHAOS1',
    event_name: 'purchase',
    timestamp_ms: timestampMs,
    tags: [{ id: '12', name: 'GA4', status: 'success', execution_time: 84 }],
  }
  try {
    const response = await fetch(`${url}/ingest`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-service-key': site.ingest_key,
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify(payload),
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
