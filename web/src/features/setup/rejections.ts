import type { RecentAnswer } from '../../api/analytics.ts'

type Rejection = RecentAnswer['rejections'][number]

/** Refusals for the same reason at the same path. */
export interface RejectionGroup {
  key: string
  reason: string
  path: string
  count: number
  /** ISO 8601 */
  lastAt: string
}

/** Groups refusals, latest first. */
export function groupsOf(rejections: readonly Rejection[]): RejectionGroup[] {
  const groups = Map.groupBy(rejections, ({ reason, path }) => `${reason}|${path}`)
  return [...groups].map(([key, same]) => ({
    key,
    reason: same[0]?.reason ?? '',
    path: same[0]?.path ?? '',
    count: same.length,
    // They come newest first.
    lastAt: same[0]?.at ?? '',
  }))
}

/** What was wrong and what to do about it, for the person who has to fix it. */
export function adviceOf({ reason, path }: Pick<RejectionGroup, 'reason' | 'path'>): { what: string; todo: string } {
  switch (reason) {
    case 'rate_limited':
      if (path === 'requests per second') {
        return {
          what: 'Too fast',
          todo: 'More requests a second than the plan allows. Send batches, or choose a larger plan.',
        }
      }
      if (path === 'events per month') {
        return {
          what: 'Quota used up',
          todo: 'More events than are left this month. They are accepted again from the first of next month, or with a larger plan.',
        }
      }
      if (path === 'bytes under way') {
        return {
          what: 'Too much at once',
          todo: 'The client has more bytes in flight than it may have. Send smaller batches, or fewer at a time.',
        }
      }
      return {
        what: 'Too many',
        todo: 'Over the plan: too many requests a second, or the events of the month are used up. Send batches, or choose a larger plan.',
      }
    case 'forbidden':
      if (/^key (revoked|expired): /.test(path)) {
        return {
          what: 'Old key',
          todo: 'A sender still uses a key that has ended. Give it the newest one, shown in step 2.',
        }
      }
      return {
        what: 'Paused',
        todo: 'The site or its client is paused. Check the settings of both.',
      }
    case 'payload_too_large':
      return { what: 'Too large', todo: 'The body was over 1 MB (1,048,576 bytes). Send smaller batches.' }
    case 'unavailable':
      return {
        what: 'Overloaded',
        todo: 'This service was overloaded. Nothing is wrong with the payload: it is counted when it is sent again.',
      }
    case 'unauthorized':
      return { what: 'Key in the wrong place', todo: placeAdvice(path) }
    case 'method_not_allowed':
      return {
        what: 'Not a POST',
        todo: 'Send a POST. A redirect, such as from http to https, turns it into a GET: enter the address exactly as shown in step 2.',
      }
    case 'not_found':
      return {
        what: 'Wrong address',
        todo: 'The key arrived, but not at the ingest address: enter the endpoint of step 2, with /ingest at its end.',
      }
    default:
      return { what: 'Not valid', todo: invalidAdvice(path) }
  }
}

function placeAdvice(path: string): string {
  if (path === 'query of the address') {
    return 'Send the key in the header X-Service-Key, not in the address: addresses are kept in the logs of proxies.'
  }
  if (path === 'key header with more than the key') {
    return 'The header holds the key and something else, such as quotes or the word Bearer. Send the 43 characters alone.'
  }
  return 'Send the key in the header X-Service-Key. For senders that cannot, add their header to the setting INGEST_KEY_HEADERS.'
}

function invalidAdvice(path: string): string {
  if (path === 'not JSON')
    return 'The body is not JSON. A variable that is put into it may hold a quote or a line break.'
  if (path === 'too deep' || path === 'too many objects')
    return 'The body holds more than it needs: lists and objects nested over 64 levels, or over 20,000 of them. Send only the fields that the API knows.'
  if (path === 'header Content-Type') return 'Send the header Content-Type: application/json.'
  if (path === 'header Idempotency-Key') return 'The Idempotency-Key may have up to 128 characters.'
  if (/^\/(user_data|ecommerce)\//.test(path)) {
    return 'A flag says only whether the field was there: true or false. Content is refused, so none is stored by mistake.'
  }
  return 'The field is missing or of the wrong kind. The template sends it correctly; for a sender of your own, see the API documentation.'
}
