/**
 * Whether a redirect stays with the site: http to https, with and without `www.`, a name above or below. Names beside one another
 * may belong to others (`a.co.uk`, `b.co.uk`).
 */
export function isSameSite(from: URL, to: URL): boolean {
  const [a, b] = [from, to].map(({ hostname }) => hostname.toLowerCase().replace(/^www\./, ''))
  if (a === undefined || b === undefined) return false
  return a === b || isBelow(a, b) || isBelow(b, a)
}

const isBelow = (name: string, domain: string): boolean => domain.includes('.') && name.endsWith(`.${domain}`)
