import { ApiError } from '../api/client.ts'

/** What of a form's body is no longer as it was opened with. The rest is not sent: it stays as someone else may have left it meanwhile. */
export function changed<Body extends object>(body: Body, opened: Body): Partial<Body> {
  const before = new Map<string, unknown>(Object.entries(opened))
  const isChanged = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(before.get(name))
  return Object.fromEntries(Object.entries(body).filter(isChanged)) as Partial<Body>
}

/**
 * The same, but for a value that someone else has set meanwhile: that is said at its field, once. Saving again replaces it.
 *
 * @param opened takes over what has been said of
 * @param now what the form would be opened with now
 * @param path of the body, as the service names faults
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
