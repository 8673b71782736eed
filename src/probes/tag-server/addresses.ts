import { withoutEnd } from '../../lib/index.ts'

/** Where a tag server may answer its health. */
export interface HealthEndpoint {
  /** Path and query, e.g. `/metrics/healthy`. */
  path: string
  /** Whether it is one of the image's own, whose answer is known. */
  isOwn: boolean
}

/**
 * The endpoints to ask, the likeliest first. The image answers `/healthy`; `/healthz` serves outside of Cloud Run, which keeps
 * paths ending in z for itself; the address as it was given is for what is no such image. A tag server that shares its host
 * with the site has its paths behind the prefix of its address.
 *
 * @param override the only endpoint to ask, when there is one
 * @param remembered the endpoint that served the last time: of the image's own, it is asked first
 */
export function healthEndpoints(
  tagServerUrl: string,
  override: string | undefined,
  remembered: string | undefined,
): HealthEndpoint[] {
  if (override !== undefined) return [{ path: override, isOwn: false }]
  const { pathname, search } = new URL(tagServerUrl)
  const prefix = withoutEnd(pathname, '/')
  const endpoints = [
    { path: `${prefix}/healthy`, isOwn: true },
    { path: `${prefix}/healthz`, isOwn: true },
    { path: `${pathname}${search}`, isOwn: false },
  ]
  // The address as given is asked last, also where it served: of what answers 200 at all of them it would hide that.
  const rank = ({ path, isOwn }: HealthEndpoint) => (isOwn ? Number(path !== remembered) : 2)
  return endpoints.toSorted((a, b) => rank(a) - rank(b))
}

/** The address of a path on the tag server's host. A path stays one, also when it begins with two slashes. */
export function urlAt(tagServerUrl: string, path: string): string {
  const [pathname = '', ...query] = path.split('?')
  const url = new URL(tagServerUrl)
  url.pathname = pathname
  url.search = query.join('?')
  url.hash = ''
  return url.href
}

/** Where a tag server that serves the web container itself has it. */
export function gtmJsUrl(tagServerUrl: string, containerId: string): string {
  const prefix = withoutEnd(new URL(tagServerUrl).pathname, '/')
  return urlAt(tagServerUrl, `${prefix}/gtm.js?id=${encodeURIComponent(containerId)}`)
}

/** Strangers may send one on to an address of 64 kB. */
const SHOWN_MAX = 500

/** An address as messages and details show it: without its query, which may hold keys. */
export function shownAddress(address: string): string {
  const url = URL.parse(address)
  return url === null ? 'another address' : `${url.host}${url.pathname}`.slice(0, SHOWN_MAX)
}
