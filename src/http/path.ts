/** The path of a request's target as the router reads it: what decides by a path without a route's pattern sees one spelling of it. */
export function pathOf(target: string): string {
  const [path = ''] = target.split(/[?#]/, 1)
  if (!path.includes('%')) return path
  try {
    return decodeURI(path)
  } catch {
    // The router refuses it.
    return path
  }
}
