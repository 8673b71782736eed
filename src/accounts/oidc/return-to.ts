/** Stands for us; no one can have this name (RFC 2606). */
const OWN = 'http://own.invalid'

/** It travels in a cookie, of which browsers keep 4 kB. */
const LONGEST = 2_000

/**
 * A page of ours to go to after the sign-in, whatever the address says: a path, never another site. Browsers read `//host`, `/\host`
 * and, without the line break, `/⏎/host` as another host.
 */
export function localPath(text: string | undefined): string {
  if (text === undefined || !text.startsWith('/')) return '/'
  const url = URL.parse(text, OWN)
  if (url === null || url.origin !== OWN) return '/'
  // `/.//host` is a path here, and would be a host where it is read the next time.
  if (url.pathname.startsWith('//') || /^\/api(\/|$)/.test(url.pathname)) return '/'
  const path = url.pathname + url.search + url.hash
  return path.length > LONGEST ? '/' : path
}
