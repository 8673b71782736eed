import type { Payload } from '../ingest/index.ts'

/** How long the tag waits for the answer, ms. */
const TIMEOUT_MS = { perEvent: 5_000, batched: 10_000 }

export interface IngestTarget {
  endpoint: string
  keyHeader: string
  key: string
}

export interface IngestAnswer {
  status: number
  body: string
  /** As the header says it: seconds. */
  retryAfter: string | null
  /** From the request to the answer's end. */
  ms: number
}

/**
 * Sends one payload as the tag would, with the tag's patience.
 *
 * @throws what `fetch` throws when there is no answer
 */
export async function postPayload(target: IngestTarget, payload: Payload): Promise<IngestAnswer> {
  const began = performance.now()
  const response = await fetch(target.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', [target.keyHeader]: target.key },
    body: JSON.stringify(payload),
    // A redirected POST becomes a GET on its way: better to say where the endpoint really is.
    redirect: 'manual',
    signal: AbortSignal.timeout(payload.batch === true ? TIMEOUT_MS.batched : TIMEOUT_MS.perEvent),
  })
  const body = await response.text()
  return {
    status: response.status,
    body,
    retryAfter: response.headers.get('retry-after'),
    ms: performance.now() - began,
  }
}

/** Whether it is Tagwarden that says yes: another server may answer 200, too. */
export const isAccepted = ({ status, body }: IngestAnswer): boolean => status === 200 && body === '{"status":"ok"}'
