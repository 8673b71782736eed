/** What of a form's body is no longer as it was opened with. The rest is not sent: it stays as someone else may have left it meanwhile. */
export function changed<Body extends object>(body: Body, opened: Body): Partial<Body> {
  const before = new Map<string, unknown>(Object.entries(opened))
  const isChanged = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(before.get(name))
  return Object.fromEntries(Object.entries(body).filter(isChanged)) as Partial<Body>
}
