import { isIP } from 'node:net'

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export const changesState = (method: string): boolean => !SAFE_METHODS.has(method)

/**
 * Whether a web page of `origin` is ours: served under `PUBLIC_URL`, or under the host the request went to. The scheme is
 * not compared with the latter, because a proxy that ends TLS leaves us with http.
 */
export function isOwnOrigin(origin: string, host: string, publicUrl: string | null): boolean {
  const page = URL.parse(origin)
  if (page === null || !/^https?:$/.test(page.protocol)) return false
  if (publicUrl !== null && page.origin === URL.parse(publicUrl)?.origin) return true
  return page.host === hostOf(host, page.protocol)
}

/**
 * Whether `host` (a Host header) is a name under which a service on loopback can rightly be called. Any web page can let
 * a name of its own point to 127.0.0.1 (DNS rebinding); the browser then takes our answers for that page's own, and only
 * the name gives it away. An address written out cannot be rebound.
 */
export function isLocalHost(host: string, publicUrl: string | null): boolean {
  const name = URL.parse(`http://${host}`)?.hostname
  // Browsers always send a Host; what sends none (HTTP/1.0) is no browser.
  if (host === '') return true
  if (name === undefined) return false
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true
  return name === 'localhost' || name.endsWith('.localhost') || name === URL.parse(publicUrl ?? '')?.hostname
}

/** With the scheme's default port left out, as a URL's `host` has it. */
const hostOf = (host: string, protocol: string): string | undefined => URL.parse(`${protocol}//${host}`)?.host
