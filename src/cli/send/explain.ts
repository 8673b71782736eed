import { type IngestAnswer, type IngestTarget, isAccepted } from '../post.ts'

/** What an answer that is not a yes means and what to do about it, in a sentence; null for a yes. */
export function explainAnswer(answer: IngestAnswer, { endpoint, keyHeader }: IngestTarget): string | null {
  if (isAccepted(answer)) return null
  switch (answer.status) {
    case 400:
      return 'the payload is refused: GET /api/monitoring/sites/{site_id}/recent lists which field and why.'
    case 401:
      return (
        `no site has this key, or the service does not read it from ${keyHeader} (INGEST_KEY_HEADERS): ` +
        'copy ingest_key from GET /api/sites; a deleted site needs to be created again, with a new key.'
      )
    case 403:
      return (
        'the site or its client is switched off, or the key is revoked: switch it on with PATCH and ' +
        '{"is_active": true}; a revoked key is replaced by creating the site again.'
      )
    case 413:
      return 'the payload is larger than 1 MB: send fewer events in a batch (batchSize of the tag).'
    case 429:
      return (
        `the client's plan allows no more now: wait ${answer.retryAfter ?? 'some'} s, or choose a larger plan; ` +
        'GET /api/clients/{client_id}/usage shows what is used.'
      )
    case 404:
    case 405:
      return `there is no ingest at ${endpoint}: the path is /ingest or /api/ingest.`
    case 500:
    case 503:
      return 'the service could not store it: its log and GET /ready say why; nothing was counted, send it again.'
    default:
      return `that is not how Tagwarden answers: does ${endpoint} lead to it, and past every proxy?`
  }
}
