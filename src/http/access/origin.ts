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

/** By which names this service may be called. */
export interface OwnNames {
  publicUrl: string | null
  /** Whether only this machine can connect; then no other machine's resolver has a name for it. */
  listensOnLoopback: boolean
  /** What the operating system calls this machine. */
  machine: string
}

/**
 * Whether `host` (a Host header as it came, never what a proxy or a page says about it) is a name under which this service
 * can rightly be called. Any web page can let a name of its own point to an address inside (DNS rebinding); the browser then
 * takes our answers for that page's own, and only the name gives it away. An address written out cannot be rebound. Nor can
 * a name without a dot: no one outside can register one, so it comes from the local network, which reaches us anyway.
 */
export function isOwnHost(host: string, { publicUrl, listensOnLoopback, machine }: OwnNames): boolean {
  // Browsers always send a Host; what sends none (HTTP/1.0) is no browser.
  if (host === '') return true
  const name = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '')
  if (name === undefined || name === '') return false
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true
  if (name === 'localhost' || name.endsWith('.localhost') || name === URL.parse(publicUrl ?? '')?.hostname) return true
  if (listensOnLoopback) return false
  const own = machine.toLowerCase()
  return !name.includes('.') || name === own || name === `${own}.local`
}

/** With the scheme's default port left out, as a URL's `host` has it. */
const hostOf = (host: string, protocol: string): string | undefined => URL.parse(`${protocol}//${host}`)?.host
