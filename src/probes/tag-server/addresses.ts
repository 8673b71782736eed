import { withoutEnd } from '../../lib/index.ts'

/** An address that a tag server may use for its health. */
export interface HealthEndpoint {
  /** Path and query, e.g. `/metrics/healthy`. */
  path: string
  /** Whether it belongs to the image, whose answer is known. */
  isOwn: boolean
}

/**
 * Returns the endpoints to try, likeliest first. The image answers `/healthy`; `/healthz` works outside Cloud Run, which
 * reserves paths ending in z; the given address is for servers that are not the image. A tag server that shares its host with
 * the site has its paths behind the prefix of its address.
 *
 * @param override the only endpoint to try, if there is one
 * @param remembered the endpoint that worked last time; if it is one of the image's own, it comes first
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
  // The given address always comes last, even if it worked: a server that answers 200 everywhere would otherwise go unnoticed.
  const rank = ({ path, isOwn }: HealthEndpoint) => (isOwn ? Number(path !== remembered) : 2)
  return endpoints.toSorted((a, b) => rank(a) - rank(b))
}

/** Returns the address of a path on the tag server's host. A path stays a path even if it begins with two slashes. */
export function urlAt(tagServerUrl: string, path: string): string {
  const [pathname = '', ...query] = path.split('?')
  const url = new URL(tagServerUrl)
  url.pathname = pathname
  url.search = query.join('?')
  url.hash = ''
  return url.href
}

/** The address at which a tag server would serve the web container. */
export function gtmJsUrl(tagServerUrl: string, containerId: string): string {
  const prefix = withoutEnd(new URL(tagServerUrl).pathname, '/')
  return urlAt(tagServerUrl, `${prefix}/gtm.js?id=${encodeURIComponent(containerId)}`)
}

/** Redirects to strangers' addresses may have 64 kB. */
const SHOWN_MAX = 500

/** Returns an address for messages and details: without its query, which may contain keys. */
export function shownAddress(address: string): string {
  const url = URL.parse(address)
  return url === null ? 'another address' : `${url.host}${url.pathname}`.slice(0, SHOWN_MAX)
}
