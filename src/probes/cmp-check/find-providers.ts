import type { Page } from './page.ts'
import type { Provider, UrlSign } from './provider.ts'
import { PROVIDERS } from './providers.ts'
import type { ScriptFacts } from './script-facts.ts'

interface Evidence {
  where: 'page' | 'container'
  /** `leftover`: an element that stays when the platform is gone. */
  kind: 'script' | 'address' | 'snippet' | 'element' | 'leftover'
  /** The address without its query, the identifier, or the mark. */
  what: string
}

interface Signs {
  /** As in `Provider`. */
  id: string
  evidence: Evidence[]
  /** Complete addresses of its scripts. */
  scripts: string[]
}

/** Signs of providers in a page or a script. Contains plain data only, because it is passed between threads. */
export interface Found {
  /** In the order in which they were found. */
  signs: Signs[]
  /** Some platform of the IAB framework is present, even if unknown. */
  hasIabStub: boolean
  /** Addresses on the domain that the IAB has given up. */
  outdated: string[]
}

const EVIDENCE_MAX = 3
const SCRIPTS_MAX = 5
const OUTDATED_MAX = 5
const SHOWN_MAX = 200
/** Limits for addresses in strings and for their characters; containers' scripts have a few hundred. */
const ADDRESSES_MAX = 10_000
const ADDRESS_MAX = 2_048
const ADDRESS = /(?:https?:)?\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d+)?(\/[^\s"'<>\\`]*)?/gi

class Search {
  readonly #signs = new Map<string, Signs>()
  readonly #outdated = new Set<string>()

  add(id: string, evidence: Evidence, script: string | null = null): void {
    const known = this.#signs.get(id) ?? { id, evidence: [], scripts: [] }
    this.#signs.set(id, known)
    const isNew = known.evidence.every(({ what }) => what !== evidence.what)
    if (isNew && known.evidence.length < EVIDENCE_MAX) known.evidence.push(evidence)
    if (script !== null && known.scripts.length < SCRIPTS_MAX && !known.scripts.includes(script)) {
      known.scripts.push(script)
    }
  }

  addUrl(seen: SeenUrl, evidence: Evidence, script: string | null): void {
    if (isOutdatedHost(seen) && this.#outdated.size < OUTDATED_MAX) this.#outdated.add(evidence.what)
    for (const { id } of providersOf(seen)) this.add(id, evidence, script)
  }

  end(hasIabStub: boolean): Found {
    return { signs: [...this.#signs.values()], hasIabStub, outdated: [...this.#outdated] }
  }
}

/**
 * Searches a page for providers.
 *
 * @param url of the page
 */
export function findInPage(url: string, page: Page, facts: readonly ScriptFacts[]): Found {
  const search = new Search()
  for (const { src } of page.scripts) {
    const parsed = src === null ? null : URL.parse(src)
    if (parsed !== null) search.addUrl(seenUrl(parsed), shown(parsed.href, 'page', 'script'), parsed.href)
  }
  for (const address of page.otherUrls) {
    const parsed = URL.parse(address)
    if (parsed !== null) search.addUrl(seenUrl(parsed), shown(parsed.href, 'page', 'address'), null)
  }
  let left = ADDRESSES_MAX
  for (const text of facts.flatMap(({ texts }) => texts)) {
    const start = text.length - text.trimStart().length
    for (const { seen, address, at } of addressesIn(text)) {
      if (left-- <= 0) break
      // `…/${id}/loader.js`: the script puts in what is missing.
      const isWhole = at === start && seen.path.endsWith('.js') && !address.includes('${')
      search.addUrl(seen, shown(address, 'page', 'address'), isWhole ? (URL.parse(address, url)?.href ?? null) : null)
    }
  }
  for (const { id, setup = [], elements = [], leftovers = [] } of PROVIDERS) {
    const word = setup.find((name) => facts.some(({ words }) => words.has(name)))
    if (word !== undefined) search.add(id, { where: 'page', kind: 'snippet', what: word })
    const mark = elements.find((name) => page.marks.has(name))
    // Its script may come from the site's own server.
    const src = page.scripts.find((one) => one.mark !== null && elements.includes(one.mark))?.src ?? null
    const script = src !== null && /^https?:/.test(src) ? src : null
    if (mark !== undefined) search.add(id, { where: 'page', kind: 'element', what: mark }, script)
    const leftover = leftovers.find((name) => page.marks.has(name))
    if (leftover !== undefined) search.add(id, { where: 'page', kind: 'leftover', what: leftover })
  }
  return search.end(facts.some(({ hasIabStub }) => hasIabStub))
}

/** Searches what a web container would add to a page for providers. */
export function findInContainer(text: string): Found {
  const search = new Search()
  let left = ADDRESSES_MAX
  for (const { seen, address } of addressesIn(text)) {
    if (left-- <= 0) break
    search.addUrl(seen, shown(address, 'container', 'address'), null)
  }
  return search.end(false)
}

/** Merges what was found in a page and in its container. */
export function together(page: Found, container: Found): Found {
  const more = new Map(container.signs.map((signs) => [signs.id, signs]))
  const both = page.signs.map(({ id, evidence, scripts }) => {
    const added = more.get(id)?.evidence ?? []
    more.delete(id)
    const isNew = ({ what }: Evidence) => evidence.every((known) => known.what !== what)
    return { id, evidence: [...evidence, ...added.filter(isNew)].slice(0, EVIDENCE_MAX), scripts }
  })
  const outdated = [...new Set([...page.outdated, ...container.outdated])]
  return { signs: [...both, ...more.values()], hasIabStub: page.hasIabStub, outdated }
}

export interface FoundProvider extends Omit<Signs, 'id'> {
  provider: Provider
}

/** Nothing else shows it, so it may be gone. */
export const isLeftover = ({ evidence }: FoundProvider): boolean => evidence.every(({ kind }) => kind === 'leftover')

export const providersFound = ({ signs }: Pick<Found, 'signs'>): FoundProvider[] =>
  signs.flatMap(({ id, evidence, scripts }) => {
    const provider = PROVIDERS.find((known) => known.id === id)
    return provider === undefined ? [] : [{ provider, evidence, scripts }]
  })

const seenUrl = ({ hostname, pathname }: URL): SeenUrl => ({ host: hostname.toLowerCase(), path: pathname })

function* addressesIn(text: string): Generator<{ seen: SeenUrl; address: string; at: number }> {
  for (const match of text.matchAll(ADDRESS)) {
    const [address, host = '', rest = '/'] = match
    const seen = { host: host.slice(-ADDRESS_MAX).toLowerCase(), path: withoutQuery(rest.slice(0, ADDRESS_MAX)) }
    yield { seen, address: address.slice(0, ADDRESS_MAX), at: match.index }
  }
}

/** The query and the fragment may contain a key. */
function withoutQuery(address: string): string {
  const at = address.search(/[?#]/)
  return at === -1 ? address : address.slice(0, at)
}

const shown = (address: string, where: Evidence['where'], kind: Evidence['kind']): Evidence => ({
  where,
  kind,
  what: withoutQuery(address).slice(0, SHOWN_MAX),
})

/** Whether one of the texts contains this part of an address. Finds platforms that are not in the table. */
export function hasAddress(part: string, texts: readonly string[]): boolean {
  const wanted = part.toLowerCase()
  return texts.some((text) => text.toLowerCase().includes(wanted))
}

/** A URL as signatures see it: complete, or the beginning of one that a script assembles. */
interface SeenUrl {
  /** Lower case, without a port. */
  host: string
  path: string
}

const isSignOf = ({ host, path, ends = '' }: UrlSign, url: SeenUrl): boolean =>
  (host === undefined || isHost(host, url.host)) && url.path.endsWith(ends) && isPath(path, url.path)

const isPath = (sign: UrlSign['path'], path: string): boolean =>
  sign === undefined || (typeof sign === 'function' ? sign(path) : sign.test(path))

function isHost(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.')) return host === pattern
  const domain = pattern.slice(2)
  return host === domain || host.endsWith(`.${domain}`)
}

const providersOf = (url: SeenUrl): Provider[] =>
  PROVIDERS.filter(({ urls }) => urls.some((sign) => isSignOf(sign, url)))

/** The IAB moved its scripts off this domain, so an installation that still loads from it is outdated. */
const isOutdatedHost = ({ host }: SeenUrl): boolean => isHost('*.consensu.org', host)

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** Returns the provider that a site's `cmp_provider` means; null when it is not in the table. */
export function providerNamed(name: string): Provider | null {
  const wanted = plain(name)
  return (
    PROVIDERS.find(({ id, name: title, aliases = [] }) =>
      [id, title, ...aliases].some((known) => plain(known) === wanted),
    ) ?? null
  )
}
