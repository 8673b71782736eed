import { inOneLine } from '../../lib/index.ts'
import { type ConsentMode, consentMode } from './consent-mode.ts'
import { type Refusal, refusalOf } from './fetch.ts'
import { type Found, findInContainer, findInPage, hasAddress } from './find-providers.ts'
import type { Forward } from './forward.ts'
import { type Page, readPage } from './page.ts'
import { CONTAINER_ID, isContainerScript, type ScriptFacts, scriptFacts } from './script-facts.ts'

/** A fetched page, and what to look for. */
export interface PageQuestion {
  url: string
  status: number
  headers: Readonly<Record<string, string>>
  /** Part of an address to look for, or null. */
  ownAddress: string | null
}

/** What a page says about consent: a few kB for any page. */
export interface PageReading {
  /** Why it cannot be checked as a page; null when it can. */
  refusal: Refusal | null
  /** In one line, shortened; may be empty. */
  title: string
  /** Where it only sends visitors on to; null when they stay. */
  forward: Forward | null
  /** Id of the first web container that it names. */
  containerId: string | null
  /** Those that its own text starts for certain. */
  startedIds: string[]
  found: Found
  hasOwnAddress: boolean
  /** Complete addresses of its scripts that contain the part looked for. */
  ownScripts: string[]
  mode: ConsentMode
  /** It has no script that would run, and nothing else that could load one. */
  runsNothing: boolean
  characters: number
  /** It has more scripts or addresses than are read. */
  isCut: boolean
}

const TITLE_MAX = 60

/** Reads a page. Its content is not trusted, and reading takes time in proportion to its length, whatever it contains. */
export function readConsentPage(html: string, { url, status, headers, ownAddress }: PageQuestion): PageReading {
  const page = readPage(html, url)
  const inline = page.scripts.filter(({ src }) => src === null)
  const scripts = inline.map(({ at, code }) => ({ at, facts: scriptFacts(code) }))
  const facts = scripts.map((script) => script.facts)
  const texts = () => [
    ...page.scripts.map(({ src }) => src ?? ''),
    ...page.otherUrls,
    ...facts.flatMap((one) => one.texts),
  ]
  return {
    refusal: refusalOf(status, headers, page, new Set(facts.flatMap(({ words }) => [...words]))),
    title: inOneLine(page.title).slice(0, TITLE_MAX).toWellFormed(),
    forward: page.forwardsTo === null ? scriptedForward(page, facts, url) : { to: page.forwardsTo },
    containerId: [...facts.flatMap(({ containerIds }) => containerIds), ...containersInAddresses(page)][0] ?? null,
    startedIds: [
      ...facts.flatMap(({ containerAt, containerIds }) => (containerAt === null ? [] : containerIds)),
      ...containersInAddresses(page),
    ],
    found: findInPage(url, page, facts),
    hasOwnAddress: ownAddress !== null && hasAddress(ownAddress, texts()),
    ownScripts: ownScripts(page, ownAddress),
    mode: consentMode(page, scripts),
    runsNothing: page.scripts.length === 0 && page.otherUrls.length === 0 && !page.hasIdleScripts,
    characters: html.length,
    isCut: page.isCut,
  }
}

const OWN_SCRIPTS_MAX = 5

const ownScripts = ({ scripts }: Page, ownAddress: string | null): string[] =>
  scripts
    .flatMap(({ src }) => (src !== null && ownAddress !== null && hasAddress(ownAddress, [src]) ? [src] : []))
    .filter((src) => /^https?:/.test(src))
    .slice(0, OWN_SCRIPTS_MAX)

/** Ids of containers that the page loads without the usual snippet: `<script src="…/gtm.js?id=GTM-…">`. */
const containersInAddresses = ({ scripts }: Page): string[] =>
  scripts
    .flatMap(({ src }) => (src !== null && isContainerScript(src) ? [CONTAINER_ID.exec(src)?.[0]] : []))
    .filter((id) => id !== undefined)
    .slice(0, CONTAINERS_MAX)

const CONTAINERS_MAX = 10

/** "You are being redirected", with a link, and room for two languages. */
const FORWARD_TEXT_MAX = 200

/** A page that shows next to nothing, loads nothing, and has a script that leads elsewhere, is only a step on the way. */
function scriptedForward(page: Page, facts: readonly ScriptFacts[], url: string): Forward | null {
  const isEmpty = page.textLength <= FORWARD_TEXT_MAX && page.otherUrls.length === 0 && !page.hasIdleScripts
  if (!isEmpty || page.scripts.some(({ src }) => src !== null)) return null
  const forward = facts.find((one) => one.forward !== null)?.forward ?? null
  const to = forward?.to == null ? null : URL.parse(forward.to, url)
  // One that leads to itself sets a cookie first.
  const isElsewhere = to !== null && /^https?:$/.test(to.protocol) && to.href !== url
  return forward === null ? null : { to: isElsewhere ? to.href : null }
}

/** What the script of a web container says about consent. */
export interface ContainerReading {
  found: Found
  setsDefaults: boolean
  hasOwnAddress: boolean
}

/** @param ownAddress part of an address to look for, or null */
export function readContainer(script: string, ownAddress: string | null): ContainerReading {
  const { text, setsDefaults } = containerFacts(script)
  return {
    found: findInContainer(text),
    setsDefaults,
    hasOwnAddress: ownAddress !== null && hasAddress(ownAddress, [text]),
  }
}

interface ContainerFacts {
  /** Text that may contain addresses. */
  text: string
  /** One of its tags sets Google's consent defaults. */
  setsDefaults: boolean
}

/**
 * A run of backslashes with what it escapes, because addresses and HTML are nested in strings of strings. A run must match as
 * a whole: if it matched only before a slash, every backslash of it would be tried as a start.
 */
const ESCAPES = /\\+(\/|u003[cCeEdD]|u0026|x26|x3[dD])?/g

const ESCAPED: Readonly<Record<string, string>> = { u003c: '<', u003e: '>', u003d: '=', x3d: '=', u0026: '&', x26: '&' }

/**
 * Finds what the tags in a container would do. A template calls `setDefaultConsentState`, which it must require; an HTML tag
 * makes the same call as a page.
 */
function containerFacts(script: string): ContainerFacts {
  const text = script.replace(ESCAPES, (run, code?: string) =>
    code === undefined ? run : (ESCAPED[code.toLowerCase()] ?? code),
  )
  return {
    text,
    setsDefaults:
      /"require",\s*"setDefaultConsentState"/.test(text) ||
      // A permission that a template requires; Google's own code has the name in other places.
      /"access_consent":\s*\{/.test(text) ||
      /consent\\*['"]\s*,\s*\\*['"]default/.test(text),
  }
}
