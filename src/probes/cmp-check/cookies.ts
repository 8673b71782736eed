/** As many cookies of a host as are sent back. */
const MAX_COOKIES = 50
/** A longer cookie is no use to a browser either. */
const MAX_LENGTH = 4_096

/**
 * The cookies of one visit, each for its own host, or for the domain above it that it names. Without them, a page that redirects
 * to itself until its cookie comes back would look like one that redirects in circles.
 */
export class CookieJar {
  /** By host; those of a domain by `.` and its name. */
  readonly #hosts = new Map<string, Map<string, string>>()

  /** @param header the values of `Set-Cookie`, joined by commas */
  keep(address: string, header: string): void {
    const { hostname } = new URL(address)
    // The comma of a date is not followed by a name and `=`.
    for (const cookie of header.split(/,(?=[^;,=]{1,200}=)/)) {
      const [pair = '', ...attributes] = cookie.trim().split(';')
      const name = pair.slice(0, pair.indexOf('='))
      const place = placeOf(hostname, attributes)
      const cookies = this.#hosts.get(place) ?? new Map<string, string>()
      this.#hosts.set(place, cookies)
      cookies.delete(name)
      const isGone = attributes.some((one) => /^\s*(max-age\s*=\s*(-|0+\s*$)|expires\s*=.*\b1970\b)/i.test(one))
      const isSendable = name !== '' && pair.length <= MAX_LENGTH && /^[\x20-\x7e]+$/.test(pair)
      if (isSendable && !isGone && cookies.size < MAX_COOKIES) cookies.set(name, pair)
    }
  }

  headerFor(address: string): { cookie?: string } {
    const { hostname } = new URL(address)
    const cookies = [...this.#hosts].flatMap(([place, mine]) =>
      place === hostname || (place.startsWith('.') && `.${hostname}`.endsWith(place)) ? [...mine.values()] : [],
    )
    return cookies.length === 0 ? {} : { cookie: cookies.join('; ') }
  }
}

/** A visit stays on one site, so that a domain of strangers (`co.uk`) hands nothing to them. */
function placeOf(hostname: string, attributes: readonly string[]): string {
  const named = attributes.map((one) => /^\s*domain\s*=\s*\.?([a-z0-9.-]+)\s*$/i.exec(one)?.[1]).find(Boolean)
  const domain = `.${named?.toLowerCase()}`
  return named?.includes('.') && `.${hostname}`.endsWith(domain) ? domain : hostname
}
