import type { Page } from './page.ts'
import { PROVIDERS, type Provider } from './providers.ts'
import type { ScriptFacts } from './script-facts.ts'
import { isOutdatedHost, providersOf, type SeenUrl } from './signatures.ts'

/** A sign of a provider. */
export interface Evidence {
  where: 'page' | 'container'
  kind: 'script' | 'address' | 'snippet' | 'element'
  /** The address without its query, the identifier or the mark. */
  what: string
}

export interface FoundProvider {
  provider: Provider
  evidence: Evidence[]
  /** Complete addresses of its scripts. */
  scripts: string[]
}

export interface Found {
  providers: FoundProvider[]
  /** Some platform of the IAB's framework is there, whichever. */
  hasIabStub: boolean
  /** Addresses on the domain that the IAB has given up. */
  outdated: string[]
}

const EVIDENCE_MAX = 3
const SHOWN_MAX = 200
const ADDRESS = /(?:https?:)?\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d+)?(\/[^\s"'<>\\`]*)?/gi

/**
 * Looks for providers in a page and in what its web container would add to it.
 *
 * @param url of the page
 * @param container text of the container's script, null when there is none or it could not be read
 */
export function findProviders(url: string, page: Page, facts: readonly ScriptFacts[], container: string | null): Found {
  const found = new Map<Provider, FoundProvider>()
  const outdated = new Set<string>()
  const add = (provider: Provider, evidence: Evidence, script: string | null = null) => {
    const known = found.get(provider) ?? { provider, evidence: [], scripts: [] }
    found.set(provider, known)
    const isNew = known.evidence.every(({ what }) => what !== evidence.what)
    if (isNew && known.evidence.length < EVIDENCE_MAX) known.evidence.push(evidence)
    if (script !== null && !known.scripts.includes(script)) known.scripts.push(script)
  }
  const addUrl = (
    seen: SeenUrl,
    shown: string,
    where: Evidence['where'],
    kind: Evidence['kind'],
    script: string | null,
  ) => {
    if (isOutdatedHost(seen)) outdated.add(shown)
    for (const provider of providersOf(seen)) add(provider, { where, kind, what: shown }, script)
  }

  for (const { src } of page.scripts) {
    const parsed = src === null ? null : URL.parse(src)
    if (parsed !== null) addUrl(seenUrl(parsed), shownUrl(parsed.href), 'page', 'script', parsed.href)
  }
  for (const address of page.otherUrls) {
    const parsed = URL.parse(address)
    if (parsed !== null) addUrl(seenUrl(parsed), shownUrl(parsed.href), 'page', 'address', null)
  }
  for (const text of facts.flatMap(({ texts }) => texts)) {
    for (const { seen, address } of addressesIn(text)) {
      const isComplete = seen.path.endsWith('.js') && text.trim().startsWith(address)
      const script = isComplete ? (URL.parse(address, url)?.href ?? null) : null
      addUrl(seen, shownUrl(address), 'page', 'address', script)
    }
  }
  for (const { seen, address } of container === null ? [] : addressesIn(container)) {
    addUrl(seen, shownUrl(address), 'container', 'address', null)
  }
  for (const provider of PROVIDERS) {
    const word = provider.setup?.find((name) => facts.some(({ words }) => words.has(name)))
    if (word !== undefined) add(provider, { where: 'page', kind: 'snippet', what: word })
    const mark = provider.elements?.find((name) => page.marks.has(name))
    if (mark !== undefined) add(provider, { where: 'page', kind: 'element', what: mark })
  }
  return {
    providers: [...found.values()],
    hasIabStub: facts.some(({ hasIabStub }) => hasIabStub),
    outdated: [...outdated],
  }
}

const seenUrl = ({ hostname, pathname }: URL): SeenUrl => ({ host: hostname.toLowerCase(), path: pathname })

function* addressesIn(text: string): Generator<{ seen: SeenUrl; address: string }> {
  for (const [address, host = '', rest = '/'] of text.matchAll(ADDRESS)) {
    yield { seen: { host: host.toLowerCase(), path: rest.replace(/[?#].*$/, '') }, address }
  }
}

/** Without what may be a key. */
const shownUrl = (url: string): string => url.replace(/[?#].*$/s, '').slice(0, SHOWN_MAX)

/** Whether the page or its container has an address with this text in it: for platforms that no table knows. */
export function hasAddress(part: string, page: Page, facts: readonly ScriptFacts[], container: string | null): boolean {
  const wanted = part.toLowerCase()
  const texts = [
    ...page.scripts.map(({ src }) => src ?? ''),
    ...page.otherUrls,
    ...facts.flatMap(({ texts }) => texts),
    container ?? '',
  ]
  return texts.some((text) => text.toLowerCase().includes(wanted))
}
