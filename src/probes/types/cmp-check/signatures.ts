import { PROVIDERS, type Provider, type UrlSign } from './providers.ts'

/** A URL as far as signatures look at it: complete, or the beginning of one that a script puts together. */
export interface SeenUrl {
  /** Lower case, without a port. */
  host: string
  path: string
}

export const isSignOf = ({ host, path, ends = '' }: UrlSign, url: SeenUrl): boolean =>
  (host === undefined || isHost(host, url.host)) && url.path.endsWith(ends) && isPath(path, url.path)

const isPath = (sign: UrlSign['path'], path: string): boolean =>
  sign === undefined || (typeof sign === 'function' ? sign(path) : sign.test(path))

function isHost(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.')) return host === pattern
  const domain = pattern.slice(2)
  return host === domain || host.endsWith(`.${domain}`)
}

export const providersOf = (url: SeenUrl): Provider[] =>
  PROVIDERS.filter(({ urls }) => urls.some((sign) => isSignOf(sign, url)))

/** The IAB moved scripts off this domain: an install that still loads from it is outdated. */
export const isOutdatedHost = ({ host }: SeenUrl): boolean => isHost('*.consensu.org', host)

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** The provider that a site's `cmp_provider` means, null when it is in no table. */
export function providerNamed(name: string): Provider | null {
  const wanted = plain(name)
  return (
    PROVIDERS.find(({ id, name: title, aliases = [] }) =>
      [id, title, ...aliases].some((known) => plain(known) === wanted),
    ) ?? null
  )
}
