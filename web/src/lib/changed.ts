import { ApiError } from '../api/client.ts'

/** The fields that differ from the opened form. Others are not sent, so that someone else's changes meanwhile stay. */
export function changed<Body extends object>(body: Body, opened: Body): Partial<Body> {
  const before = new Map<string, unknown>(Object.entries(opened))
  const isChanged = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(before.get(name))
  return Object.fromEntries(Object.entries(body).filter(isChanged)) as Partial<Body>
}

/**
 * The same, but reports a field that someone else has changed meanwhile, once. Saving again overwrites it.
 *
 * @param opened the values when the form was opened; updated with conflicts already reported
 * @param now the values that the form would be opened with now
 * @param path of the body in the service's fault paths
 * @throws ApiError
 */
export function changedSince<Body extends object>(body: Body, opened: Body, now: Body, path = ''): Partial<Body> {
  const mine = changed(body, opened)
  const theirs = Object.entries(changed<Partial<Body>>(changed(now, opened), body)).filter(([name]) => name in mine)
  if (theirs.length === 0) return mine
  Object.assign(opened, Object.fromEntries(theirs))
  const details = theirs.map(([name, value]) => ({
    path: `${path}/${name}`,
    message: `Someone has changed this ${inWords(value)}meanwhile. Save again to replace it`,
  }))
  throw new ApiError(409, { error: 'conflict', message: 'Someone has changed this meanwhile', details }, null)
}

const inWords = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? `to “${value}” ` : ''
