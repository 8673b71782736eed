import { CHALLENGE_WORDS } from '../tag-server/challenge.ts'
import { type ConsentDefault, DefaultCallReader } from './default-call.ts'
import { type Forward, ForwardReader } from './forward.ts'
import { type Token, tokensOf } from './javascript.ts'
import { PROVIDERS } from './providers.ts'

/** What an inline script says about consent and measurement. Positions are characters in its code. */
export interface ScriptFacts {
  defaults: readonly ConsentDefault[]
  /** A string contains `'consent', 'default'`: code that runs some other way, or never. */
  mentionsDefault: boolean
  /** Position of the snippet that starts a container; null without one. */
  containerAt: number | null
  /** Position of Google's first `config` or `event` command; null without one. */
  commandAt: number | null
  containerIds: string[]
  /** Strings that may contain addresses. */
  texts: string[]
  /** Identifiers that are signs of a provider or a challenge. */
  words: Set<string>
  /** It defines the function that gives access to platforms of the IAB framework. */
  hasIabStub: boolean
  /** It leads the browser to another page; null when it does not. */
  forward: Forward | null
}

const MENTION = /consent\\*['"]\s*,\s*\\*['"]default/
export const CONTAINER_ID = /\bGTM-[A-Z0-9]{4,10}\b/
const CONTAINER_IDS_MAX = 10
const WORDS: ReadonlySet<string> = new Set([...PROVIDERS.flatMap(({ setup = [] }) => setup), ...CHALLENGE_WORDS])
const MEASURES = ['config', 'event']
const IAB_FUNCTIONS = ['__tcfapi', '__gpp']
const IAB_FRAMES = ['__tcfapiLocator', '__gppLocator']

export function scriptFacts(code: string): ScriptFacts {
  const facts: ScriptFacts = {
    defaults: [],
    mentionsDefault: false,
    containerAt: null,
    commandAt: null,
    containerIds: [],
    texts: [],
    words: new Set(),
    hasIabStub: false,
    forward: null,
  }
  const reader = new DefaultCallReader()
  const forwards = new ForwardReader()
  let last: Token | null = null
  let lastButOne: Token | null = null
  for (const token of tokensOf(code)) {
    reader.take(token)
    forwards.take(token)
    if (token.kind === 'string') noteText(facts, token)
    else if (token.kind === 'word' && WORDS.has(token.text)) facts.words.add(token.text)
    const follows = (first: string, second: string) => lastButOne?.text === first && last?.text === second
    if (token.kind === 'string' && MEASURES.includes(token.text) && follows('gtag', '(')) facts.commandAt ??= token.at
    // Other scripts only check whether it exists: `__tcfapi == …`.
    facts.hasIabStub ||= token.text !== '=' && IAB_FUNCTIONS.some((name) => follows(name, '='))
    lastButOne = last
    last = token
  }
  return { ...facts, defaults: reader.found, forward: forwards.found }
}

function noteText(facts: ScriptFacts, { text, at }: Token): void {
  if (text === 'gtm.start' || isContainerScript(text)) facts.containerAt ??= at
  if (text.includes('//')) facts.texts.push(text)
  if (text.includes('GTM-') && facts.containerIds.length < CONTAINER_IDS_MAX) {
    const [id] = CONTAINER_ID.exec(text) ?? []
    if (id !== undefined) facts.containerIds.push(id)
  }
  facts.mentionsDefault ||= MENTION.test(text)
  facts.hasIabStub ||= IAB_FRAMES.includes(text)
}

/** The script of a web container, from Google or from the site's own server. */
export const isContainerScript = (url: string): boolean =>
  /\/gtm\.js(\?|$)|[?&]id=GTM-/.test(url) && !GOOGLE_OPTIMIZE.test(url)

/** Google has shut it down, but pages still load it; its containers have ids of the same form. */
const GOOGLE_OPTIMIZE = /\/optimize\.js\?id=/

/** Google's tag for measurement without a container. */
export const isGoogleTag = (url: string): boolean => /\/gtag\/js(\?|$)/.test(url)
