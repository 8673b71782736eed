import { quoted } from '../../lib/index.ts'
import { shownAddress } from '../tag-server/addresses.ts'
import { type ConsentMode, missingKeys } from './consent-mode.ts'
import type { FetchedScript } from './fetch.ts'
import { type FoundProvider, isLeftover } from './find-providers.ts'
import type { Forward } from './forward.ts'
import type { Provider } from './provider.ts'

/** The result of one check, with a sentence about it. */
export interface ConsentFinding {
  check: 'provider' | 'second_provider' | 'provider_script' | 'outdated_address' | 'consent_mode'
  status: 'ok' | 'warning' | 'critical' | 'error'
  message: string
}

/** What the site says it uses: a provider of the table, a part of an address, or nothing in particular. */
export interface Expected {
  provider: Provider | null
  /** As people entered it; null when any provider is fine. */
  name: string | null
  /** The part of an address that was asked for was found. */
  hasOwnSign: boolean
}

/** The platforms found, and why others may have been missed. */
export interface FoundPlatforms {
  providers: readonly FoundProvider[]
  hasIabStub: boolean
  /** The page runs nothing: no platform and no web container. */
  runsNothing: boolean
  /** The page is longer than the part that is read. */
  isCut: boolean
  /** Of the page; may be empty. */
  title: string
  /** Where the page only sends visitors on to; null when they stay. */
  forward: Forward | null
  /** Why the web container could not be read; null when it was read or there is none. */
  whyUnread: string | null
  /** Ids of what the page starts instead of the site's container, and whether the platform is in that; null when it starts it, too. */
  instead: { ids: string; ofSite: string; isInOfSite: boolean } | null
}

export function judgeProvider(expected: Expected, found: FoundPlatforms): ConsentFinding[] {
  const { provider, name, hasOwnSign } = expected
  const there = found.providers.filter((each) => !isLeftover(each))
  const mine = there.find((each) => each.provider === provider)
  const others = there.filter((each) => each !== mine && !each.provider.isCompanion)
  const any = others[0] ?? there[0]
  if (mine === undefined && !hasOwnSign) {
    if (name === null && any !== undefined) {
      return [
        fine(`${any.provider.name} is there (${placeOf(any)})`),
        ...secondProvider(others.slice(1), any.provider.name),
      ]
    }
    return [absent(expected, any, found)]
  }
  const title = provider?.name ?? name ?? 'the consent platform'
  const where = mine === undefined ? 'in the page' : placeOf(mine)
  return [fine(`${title} is there (${where})`), ...secondProvider(others, title)]
}

const fine = (message: string): ConsentFinding => ({ check: 'provider', status: 'ok', message })

function absent(
  { provider, name }: Expected,
  another: FoundProvider | undefined,
  { providers, hasIabStub, runsNothing, isCut, title, forward, whyUnread, instead }: FoundPlatforms,
): ConsentFinding {
  const wanted = name ?? 'a consent platform'
  if (another !== undefined) {
    // Shows whether it is the page at all, or the login of another product.
    const named = title === '' ? '' : `; the page is titled ${quoted(title)}`
    const message = `${wanted} is not there, but ${another.provider.name} is (${placeOf(another)})${named}`
    return { check: 'provider', status: 'warning', message }
  }
  if (hasIabStub) {
    const message = `${wanted} is not there, but some other consent platform of the IAB framework is`
    return { check: 'provider', status: name === null ? 'ok' : 'warning', message: name === null ? IAB_ONLY : message }
  }
  if (isCut) {
    const message = `${wanted} is not in the part of the page that is read, its first 2 MB and 2,000 scripts: it may be further down`
    return { check: 'provider', status: 'error', message }
  }
  if (forward !== null) {
    const on = forward.to === null ? 'on by a script' : `on to ${shownAddress(forward.to)}`
    const message = `${wanted} is not in the page, which sends visitors ${on}: set the site's address to the one that visitors see`
    return { check: 'provider', status: 'error', message }
  }
  // Shows whether it is the page at all, or a login or a notice of maintenance.
  const named = title === '' ? '' : `, titled ${quoted(title)},`
  if (runsNothing) {
    const message = `${wanted} is not there: the page${named} runs no script at all, so it loads no web container either`
    return { check: 'provider', status: 'critical', message }
  }
  if (whyUnread !== null) {
    const message = `${wanted} is not in the page, and the web container that may load it could not be read: ${whyUnread}`
    return { check: 'provider', status: 'error', message }
  }
  const leftover = providers.find((one) => name === null || one.provider === provider)
  if (leftover !== undefined) {
    const message = `${leftover.provider.name} may be gone: the page${named} still has ${leftover.evidence[0]?.what}, but neither it nor its web container loads any consent platform that is known`
    return { check: 'provider', status: 'warning', message }
  }
  if (instead?.isInOfSite) {
    // A loader of the site's own server may hide the id of the container that it starts.
    const message = `${wanted} is only in the site's container ${instead.ofSite}, but the page${named} starts ${instead.ids}: unless it also starts the former in a way that cannot be seen, no platform is loaded`
    return { check: 'provider', status: 'warning', message }
  }
  const other = instead === null ? '' : ` ${instead.ids}, which is not the site's ${instead.ofSite},`
  const message = `${wanted} is not there: neither the page${named} nor its web container${other} loads any consent platform that is known`
  return { check: 'provider', status: 'critical', message }
}

const IAB_ONLY = 'A consent platform of the IAB framework is there (in the page)'

const PLACES = ['element', 'leftover']

function secondProvider(others: readonly FoundProvider[], title: string): ConsentFinding[] {
  // A sign that is only in the container may be a paused tag, or one for another page.
  const [second] = others.filter(({ evidence }) =>
    evidence.some(({ where, kind }) => where === 'page' && !PLACES.includes(kind)),
  )
  if (second === undefined) return []
  const message = `${second.provider.name} is present in addition to ${title} (${placeOf(second)}): visitors may be asked twice`
  return [{ check: 'second_provider', status: 'warning', message }]
}

function placeOf({ evidence }: FoundProvider): string {
  const first = evidence.find(({ kind }) => kind !== 'leftover')
  if (first === undefined) return 'in the page'
  return `${first.where === 'page' ? 'in the page' : 'in the web container'}: ${first.what}`
}

/** Rate limits apply per IP address, so this says nothing about visitors. */
const TOO_MANY_REQUESTS = 429

/** Judges the provider's own scripts: when the provider is down or the account is closed, the banner never appears. */
export function judgeScripts(title: string, scripts: readonly FetchedScript[]): ConsentFinding[] {
  return scripts.flatMap(({ url, status, why, isOurs }): ConsentFinding[] => {
    // 204, 304: no script, as the server wants it.
    const isEmpty = status !== null && status !== 200 && status < 400
    if (why === null || (isEmpty && !isOurs)) return []
    const { host } = new URL(url)
    if (isOurs) {
      const message = `The script of ${title} at ${host} was not judged: ${why}`
      return [{ check: 'provider_script', status: 'error', message }]
    }
    const fails = `The script of ${title} at ${host} fails: ${why}`
    return [
      status === TOO_MANY_REQUESTS
        ? { check: 'provider_script', status: 'error', message: `${fails}, which means too many requests` }
        : { check: 'provider_script', status: 'critical', message: fails },
    ]
  })
}

export function judgeOutdated(outdated: readonly string[]): ConsentFinding[] {
  const [first] = outdated
  if (first === undefined) return []
  const message = `A consent script is loaded from ${first}, on a domain that the IAB no longer uses: the installation is outdated`
  return [{ check: 'outdated_address', status: 'warning', message }]
}

/** `set_elsewhere`: something that is known may set the defaults outside the page. */
export type ConsentState = 'set' | 'late' | 'incomplete' | 'missing' | 'set_elsewhere' | 'no_measurement'

/** @param elsewhere what may set defaults outside the page; null when nothing known does */
export function judgeConsentMode(
  mode: ConsentMode,
  elsewhere: string | null,
): { state: ConsentState; findings: ConsentFinding[] } {
  const { defaults, starts } = mode
  const first = Math.min(...defaults.map(({ at }) => at))
  if (defaults.length === 0) {
    if (elsewhere !== null) return { state: 'set_elsewhere', findings: [] }
    if (starts === null) return { state: 'no_measurement', findings: [] }
    const message = `No consent default is set before ${starts.what}, neither in the page nor in its web container`
    return { state: 'missing', findings: [{ check: 'consent_mode', status: 'warning', message }] }
  }
  const missing = missingKeys(defaults)
  const isLate = starts !== null && first > starts.at
  const findings: ConsentFinding[] = []
  if (isLate) {
    const message = `The consent default is set after ${starts.what}, ${first - starts.at} characters further down in the page`
    findings.push({ check: 'consent_mode', status: 'warning', message })
  }
  if (missing.length > 0) {
    const message = `The consent default leaves out ${missing.join(' and ')}`
    findings.push({ check: 'consent_mode', status: 'warning', message })
  }
  return { state: isLate ? 'late' : missing.length > 0 ? 'incomplete' : 'set', findings }
}
