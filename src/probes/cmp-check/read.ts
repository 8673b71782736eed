import { type ConsentMode, consentMode } from './consent-mode.ts'
import { type Refusal, refusalOf } from './fetch.ts'
import { type Found, findInContainer, findInPage, hasAddress } from './find-providers.ts'
import { readPage } from './page.ts'
import { scriptFacts } from './script-facts.ts'

/** What is to be known of a page. */
export interface PageQuestion {
  url: string
  status: number
  headers: Readonly<Record<string, string>>
  /** A part of an address that is looked for; null for none. */
  ownAddress: string | null
}

/** What a page says of consent: a few kB, whatever the page. */
export interface PageReading {
  /** Why it is no page to look at; null when it is one. */
  refusal: Refusal | null
  /** Of the first web container that it starts. */
  containerId: string | null
  found: Found
  hasOwnAddress: boolean
  mode: ConsentMode
  /** It has no script that would run, and nothing else that could load one. */
  runsNothing: boolean
  characters: number
  /** It has more scripts or addresses than are read. */
  isCut: boolean
}

/** Reads a page; nothing of it is believed, and whatever it is, it takes time in proportion to its length. */
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
    containerId: facts.flatMap(({ containerIds }) => containerIds)[0] ?? null,
    found: findInPage(url, page, facts),
    hasOwnAddress: ownAddress !== null && hasAddress(ownAddress, texts()),
    mode: consentMode(page, scripts),
    runsNothing: page.scripts.length === 0 && page.otherUrls.length === 0 && !page.hasIdleScripts,
    characters: html.length,
    isCut: page.isCut,
  }
}

/** What the script of a web container says of consent. */
export interface ContainerReading {
  found: Found
  setsDefaults: boolean
  hasOwnAddress: boolean
}

/** @param ownAddress a part of an address that is looked for; null for none */
export function readContainer(script: string, ownAddress: string | null): ContainerReading {
  const { text, setsDefaults } = containerFacts(script)
  return {
    found: findInContainer(text),
    setsDefaults,
    hasOwnAddress: ownAddress !== null && hasAddress(ownAddress, [text]),
  }
}

/** What the published script of a web container says. */
interface ContainerFacts {
  /** Texts in which addresses may stand. */
  text: string
  /** A tag in it sets Google's consent defaults. */
  setsDefaults: boolean
}

/**
 * A run of backslashes with what it escapes: addresses and HTML stand in texts that stand in texts. Every run is a match as a
 * whole: were it one only before a slash, each of its backslashes would be tried as the first.
 */
const ESCAPES = /\\+(\/|u003[cCeEdD]|u0026|x26|x3[dD])?/g

const ESCAPED: Readonly<Record<string, string>> = { u003c: '<', u003e: '>', u003d: '=', x3d: '=', u0026: '&', x26: '&' }

/**
 * Looks for what tags in a container would do. A template calls `setDefaultConsentState`, which it has to ask for; a tag of
 * HTML makes the call that a page would make.
 */
function containerFacts(script: string): ContainerFacts {
  const text = script.replace(ESCAPES, (run, code?: string) =>
    code === undefined ? run : (ESCAPED[code.toLowerCase()] ?? code),
  )
  return {
    text,
    setsDefaults:
      /"require",\s*"setDefaultConsentState"/.test(text) ||
      // A permission that a template asks for; Google's own program has the name elsewhere.
      /"access_consent":\s*\{/.test(text) ||
      /consent\\*['"]\s*,\s*\\*['"]default/.test(text),
  }
}
