import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { PROVIDERS } from './providers.ts'

/** A script that a browser would run. */
export interface PageScript {
  /** Address of the code, absolute if possible; null for an inline script. */
  src: string | null
  /** Runs when it has loaded, not at its place in the page. */
  isAsync: boolean
  /** Position in the page: of the tag, or of the first character of an inline script's code. */
  at: number
  /** Code of an inline script. */
  code: string
  /** Id of the tag, if it is a sign of a provider, as `#id`. */
  mark: string | null
}

/** Limits of what is read; real pages have a tenth of it. */
const MAX = {
  /** Scripts, and other addresses, each. */
  things: 2_000,
  /** Characters of an address or another attribute value; of a name; of the title. */
  value: 2_048,
  /** Characters of an address that is itself a script. */
  data: 100_000,
  name: 100,
  title: 300,
  /** Per tag. */
  attributes: 200,
}

/** The parts of a page that show how it handles consent. */
export interface Page {
  title: string
  scripts: PageScript[]
  /** Addresses of frames and preloads. */
  otherUrls: string[]
  /** Those that are signs of a provider, as `#id`, `.class` and `[attribute]`. */
  marks: Set<string>
  /** Address that it sends visitors on to within seconds; null when they stay. */
  forwardsTo: string | null
  /** Characters that visitors see, as far as they are counted. */
  textLength: number
  /** It has scripts that a browser does not run, but another script may. */
  hasIdleScripts: boolean
  /** It has more than is read. */
  isCut: boolean
}

/** Plugins that delay scripts change the type and the address; the script still runs, later. */
const RUNS = /^$|(^|[-/])(java|ecma)script$|^module$|^(text\/)?rocketlazyloadscript$|^pmdelayedscript$/i
const DELAYED_SOURCES = ['data-src', 'data-rocket-src', 'data-cmp-src', 'data-wpmeteor-src']
/** Where such a plugin keeps a script's original type. */
const DELAYED_TYPE = 'data-wpmeteor-type'
/** No plugin turns these types into a script. */
const DATA = /json|speculationrules|importmap/i
const PROVIDER_MARKS: ReadonlySet<string> = new Set(
  PROVIDERS.flatMap(({ elements = [], leftovers = [] }) => [...elements, ...leftovers]),
)
const NOSCRIPT_END = /<\/noscript[\s/>]/gi
const HIDDEN = ['script', 'style', 'title']

const OPTIONS = { xmlMode: false, decodeEntities: true }

type Attributes = Map<string, string>

/**
 * Reads a page as a browser does: what looks like a tag inside a comment, a script or a text field is none. Never fails, and
 * takes time in proportion to the page's length, which is why it follows tokens and builds no tree.
 *
 * @param url of the page, for relative addresses
 */
export function readPage(html: string, url: string): Page {
  const page: Page = {
    title: '',
    scripts: [],
    otherUrls: [],
    marks: new Set(),
    forwardsTo: null,
    textLength: 0,
    hasIdleScripts: false,
    isCut: false,
  }
  const place = url.length > MAX.value ? new URL('/', url).href : url
  /** From the first tag that has one, as in browsers. Resolving each against the last would let the address grow without limit. */
  let base: string | null = null
  let name = ''
  let tagAt = 0
  let attributes: Attributes = new Map()
  let attribute = { name: '', value: '' }
  /** How many elements are open whose content is neither run nor shown. */
  let inert = 0
  /** What is read, and its position in the page: the rest after the last `<noscript>`. */
  let rest = html
  let restAt = 0
  /** Where text is being collected: in an inline script or in the title. */
  let script: PageScript | null = null
  let inTitle = false
  let isHidden = false

  const openTag = (end: number) => {
    if (name === 'noscript') {
      // Browsers that run scripts look for nothing but its end, whatever is left open in it.
      NOSCRIPT_END.lastIndex = restAt + end
      restAt = NOSCRIPT_END.exec(html)?.index ?? html.length
      tokenizer.pause()
      return
    }
    if (name === 'template') inert++
    isHidden = HIDDEN.includes(name)
    if (inert > 0) return
    // Another platform or a plugin has blocked it, and it never runs.
    const isBlocked = name === 'script' && attributes.has('src') && /^text\/plain$/i.test(attributes.get('type') ?? '')
    for (const mark of isBlocked ? [] : marksOf(attributes)) if (PROVIDER_MARKS.has(mark)) page.marks.add(mark)
    if (name === 'base') base ??= absolute(attributes.get('href') ?? '', place)
    if (name === 'meta' && /^refresh$/i.test(attributes.get('http-equiv') ?? '')) {
      page.forwardsTo ??= forwardedTo(attributes.get('content') ?? '', base ?? place, url)
    }
    if (name === 'title') inTitle = page.title === ''
    if (name === 'iframe') addUrl(attributes.get('src') ?? attributes.get('data-src'))
    if (name === 'link' && /preload|^prefetch/i.test(attributes.get('rel') ?? '')) addUrl(attributes.get('href'))
    if (name === 'script') {
      script = scriptOf(attributes, tagAt, base ?? place)
      page.hasIdleScripts ||= script === null && !DATA.test(attributes.get('type') ?? '')
    }
    if (script === null || (script.src === null && script.code === '')) return
    addScript(script)
    // What such a tag contains besides is not run.
    if (script.src === null) script = null
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
      name = rest.slice(start, Math.min(end, start + MAX.name)).toLowerCase()
      tagAt = restAt + start - 1
      attributes = new Map()
    },
    onattribname(start, end) {
      attribute = { name: rest.slice(start, Math.min(end, start + MAX.name)).toLowerCase(), value: '' }
    },
    onattribdata(start, end) {
      const isData = attribute.name === 'src' && /^data:/i.test(attribute.value || rest.slice(start, start + 5))
      const room = (isData ? MAX.data : MAX.value) - attribute.value.length
      if (room > 0) attribute.value += rest.slice(start, Math.min(end, start + room))
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
      isHidden = false
      if (rest.slice(start, end).toLowerCase() === 'template') inert = Math.max(0, inert - 1)
    },
    ontext(start, end) {
      if (inert === 0 && !isHidden) page.textLength += rest.slice(start, end).trim().length
      if (inTitle && page.title.length < MAX.title) page.title += rest.slice(start, Math.min(end, start + MAX.title))
      if (script === null || script.src !== null) return
      if (script.code === '') script.at = restAt + start
      script.code += rest.slice(start, end)
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
  let tokenizer: Tokenizer
  for (let readTo = -1; readTo < restAt; ) {
    readTo = restAt
    rest = html.slice(restAt)
    tokenizer = new Tokenizer(OPTIONS, callbacks)
    tokenizer.write(rest)
    if (restAt === readTo) tokenizer.end()
  }
  return page
}

/** Later, visitors have read the page, so it is one. */
const FORWARDS_WITHIN_S = 10

/** @param content of a `<meta http-equiv="refresh">`, e.g. `0; url=/en/` */
function forwardedTo(content: string, base: string, url: string): string | null {
  const [, seconds = '', rest = ''] = /^\s*(\d{1,9})[.\d]*\s*[;,]\s*(.*)$/s.exec(content) ?? []
  const to = absolute(rest.replace(/^url\s*=\s*/i, '').replace(/^(?:"([^"]*)|'([^']*)).*$/s, '$1$2'), base)
  if (seconds === '' || Number(seconds) > FORWARDS_WITHIN_S || to === null) return null
  const isSame = to.split('#', 1)[0] === url.split('#', 1)[0]
  return isSame || !/^https?:/.test(to) ? null : to
}

/** Returns null for what a browser does not run: data, templates, and scripts that wait for consent. */
function scriptOf(attributes: Attributes, at: number, base: string): PageScript | null {
  const type = attributes.get(DELAYED_TYPE) ?? attributes.get('type') ?? ''
  if (!RUNS.test(type.trim())) return null
  const address = ['src', ...DELAYED_SOURCES].map((name) => attributes.get(name)).find((value) => value !== undefined)
  const isAsync = ['async', 'defer'].some((name) => attributes.has(name)) || type === 'module'
  const mark = `#${attributes.get('id')}`
  const code = codeIn(address?.trim() ?? '')
  return {
    src: address === undefined || code !== null ? null : (absolute(address, base) ?? address),
    isAsync,
    at,
    code: code ?? '',
    mark: PROVIDER_MARKS.has(mark) ? mark : null,
  }
}

const DATA_SCRIPT = /^data:(?:text|application)\/(?:x-)?(?:java|ecma)script(?:;charset=[\w-]{1,30})?(;base64)?,(.*)$/is

/** The code in an address such as `data:text/javascript;base64,…`, as plugins make of an inline script to delay it; null in another. */
function codeIn(address: string): string | null {
  const [, base64, code] = DATA_SCRIPT.exec(address) ?? []
  if (code === undefined) return null
  if (base64 !== undefined) return Buffer.from(code, 'base64').toString()
  try {
    return decodeURIComponent(code)
  } catch {
    return code
  }
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
