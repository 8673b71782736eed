import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { PROVIDERS } from './providers.ts'

/** A script that a browser would run. */
export interface PageScript {
  /** Address of its code, absolute where it can be made so; null for an inline script. */
  src: string | null
  /** Runs when it has come, and not where it stands. */
  isAsync: boolean
  /** Where it is in the page: the tag, or the first character of an inline script's code. */
  at: number
  /** Of an inline script. */
  code: string
}

/** What is read of a page: real ones have a tenth of it. */
const MAX = {
  /** Scripts, and addresses of other things, each. */
  things: 2_000,
  /** Characters of an address or another value of an attribute; of a name; of the title. */
  value: 2_048,
  name: 100,
  title: 300,
  /** Of one tag. */
  attributes: 200,
}

/** What of a page shows its consent handling. */
export interface Page {
  title: string
  scripts: PageScript[]
  /** Of frames, and of what is loaded ahead. */
  otherUrls: string[]
  /** As `#id`, `.class` and `[attribute]`; those that are signs of a provider. */
  marks: Set<string>
  /** It has scripts that a browser does not run, and another script may. */
  hasIdleScripts: boolean
  /** It has more than is read. */
  isCut: boolean
}

/** Plugins that load pages faster change the type and the address; the script runs all the same, later. */
const RUNS = /^$|(^|[-/])(java|ecma)script$|^module$|^(text\/)?rocketlazyloadscript$|^pmdelayedscript$/i
const DELAYED_SOURCES = ['data-src', 'data-rocket-src', 'data-cmp-src', 'data-wpmeteor-src']
/** Where such a plugin keeps the type that a script had. */
const DELAYED_TYPE = 'data-wpmeteor-type'
/** No program makes a script of these. */
const DATA = /json|speculationrules|importmap/i
const PROVIDER_MARKS: ReadonlySet<string> = new Set(PROVIDERS.flatMap(({ elements = [] }) => elements))
/** Nothing in these is run or shown. */
const INERT = ['noscript', 'template']

type Attributes = Map<string, string>

/**
 * Reads a page the way a browser does: what looks like a tag in a comment, a script or a text field is none. Never fails, and
 * takes time in proportion to the page's length: this is why it follows the tokens and builds no tree.
 *
 * @param url where the page is, for addresses that are relative to it
 */
export function readPage(html: string, url: string): Page {
  const page: Page = { title: '', scripts: [], otherUrls: [], marks: new Set(), hasIdleScripts: false, isCut: false }
  const place = url.length > MAX.value ? new URL('/', url).href : url
  /** Of the first tag that has one, as in browsers: each on top of the last would grow without an end. */
  let base: string | null = null
  let name = ''
  let tagAt = 0
  let attributes: Attributes = new Map()
  let attribute = { name: '', value: '' }
  let inert = 0
  /** Text that is being collected: an inline script's, or the title's. */
  let script: PageScript | null = null
  let inTitle = false

  const openTag = () => {
    if (INERT.includes(name)) inert++
    if (inert > 0) return
    for (const mark of marksOf(attributes)) if (PROVIDER_MARKS.has(mark)) page.marks.add(mark)
    if (name === 'base') base ??= absolute(attributes.get('href') ?? '', place)
    if (name === 'title') inTitle = page.title === ''
    if (name === 'iframe') addUrl(attributes.get('src') ?? attributes.get('data-src'))
    if (name === 'link' && /preload|^prefetch/i.test(attributes.get('rel') ?? '')) addUrl(attributes.get('href'))
    if (name === 'script') {
      script = scriptOf(attributes, tagAt, base ?? place)
      page.hasIdleScripts ||= script === null && !DATA.test(attributes.get('type') ?? '')
    }
    if (script?.src != null) addScript(script)
  }
  const addUrl = (address: string | undefined) => {
    const found = absolute(address ?? '', base ?? place)
    if (found === null) return
    if (page.otherUrls.length < MAX.things) page.otherUrls.push(found)
    else page.isCut = true
  }
  const addScript = (found: PageScript) => {
    if (page.scripts.length < MAX.things) page.scripts.push(found)
    else page.isCut = true
  }
  const endText = () => {
    if (script !== null && script.src === null && script.code !== '') addScript(script)
    script = null
    inTitle = false
  }

  const callbacks: TokenizerCallbacks = {
    onopentagname(start, end) {
      endText()
      name = html.slice(start, Math.min(end, start + MAX.name)).toLowerCase()
      tagAt = start - 1
      attributes = new Map()
    },
    onattribname(start, end) {
      attribute = { name: html.slice(start, Math.min(end, start + MAX.name)).toLowerCase(), value: '' }
    },
    onattribdata(start, end) {
      const room = MAX.value - attribute.value.length
      if (room > 0) attribute.value += html.slice(start, Math.min(end, start + room))
    },
    onattribentity(codePoint) {
      if (attribute.value.length < MAX.value) attribute.value += String.fromCodePoint(codePoint)
    },
    onattribend() {
      if (attributes.size < MAX.attributes && !attributes.has(attribute.name))
        attributes.set(attribute.name, attribute.value)
    },
    onopentagend: openTag,
    onselfclosingtag: openTag,
    onclosetag(start, end) {
      endText()
      if (INERT.includes(html.slice(start, Math.min(end, start + MAX.name)).toLowerCase()))
        inert = Math.max(0, inert - 1)
    },
    ontext(start, end) {
      if (inTitle && page.title.length < MAX.title) page.title += html.slice(start, Math.min(end, start + MAX.title))
      if (script === null || script.src !== null) return
      if (script.code === '') script.at = start
      script.code += html.slice(start, end)
    },
    ontextentity(codePoint) {
      if (inTitle && page.title.length < MAX.title) page.title += String.fromCodePoint(codePoint)
    },
    onend: endText,
    oncdata() {},
    oncomment() {},
    ondeclaration() {},
    onprocessinginstruction() {},
  }
  const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: true }, callbacks)
  tokenizer.write(html)
  tokenizer.end()
  return page
}

/** Null for what is no script to a browser: data, templates, and what waits for consent. */
function scriptOf(attributes: Attributes, at: number, base: string): PageScript | null {
  const type = attributes.get(DELAYED_TYPE) ?? attributes.get('type') ?? ''
  if (!RUNS.test(type.trim())) return null
  const address = ['src', ...DELAYED_SOURCES].map((name) => attributes.get(name)).find((value) => value !== undefined)
  const isAsync = ['async', 'defer'].some((name) => attributes.has(name)) || type === 'module'
  return { src: address === undefined ? null : (absolute(address, base) ?? address), isAsync, at, code: '' }
}

function marksOf(attributes: Attributes): string[] {
  const id = attributes.get('id')
  return [
    ...(id === undefined ? [] : [`#${id}`]),
    ...(attributes.get('class') ?? '').split(/\s+/).flatMap((name) => (name === '' ? [] : [`.${name}`])),
    ...[...attributes.keys()].filter((name) => name.startsWith('data-')).map((name) => `[${name}]`),
  ]
}

const absolute = (address: string, base: string): string | null =>
  address.trim() === '' ? null : (URL.parse(address.trim(), base)?.href ?? null)
