import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

/** A script that a browser would run. */
export interface PageScript {
  /** Address of its code, absolute where it can be made so; null for an inline script. */
  src: string | null
  /** Runs when it has come, and not where it stands. */
  isAsync: boolean
  /** Where it stands in the page: the tag, or the first character of an inline script's code. */
  at: number
  /** Of an inline script. */
  code: string
}

/** What of a page tells of consent. */
export interface Page {
  title: string
  scripts: PageScript[]
  /** Of frames, and of what is loaded ahead. */
  otherUrls: string[]
  /** As `#id`, `.class` and `[attribute]`. */
  marks: Set<string>
}

/** Plugins that load pages faster change the type and the address; the script runs all the same, later. */
const RUNS = /^$|(^|[-/])(java|ecma)script$|^module$|^rocketlazyloadscript$/i
const DELAYED_SOURCES = ['data-src', 'data-rocket-src', 'data-cmp-src']
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
  const page: Page = { title: '', scripts: [], otherUrls: [], marks: new Set() }
  let base = url
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
    for (const mark of marksOf(attributes)) page.marks.add(mark)
    if (name === 'base') base = absolute(attributes.get('href') ?? '', base) ?? base
    if (name === 'title') inTitle = page.title === ''
    if (name === 'iframe') addUrl(attributes.get('src') ?? attributes.get('data-src'))
    if (name === 'link' && /preload|^prefetch/i.test(attributes.get('rel') ?? '')) addUrl(attributes.get('href'))
    if (name === 'script') script = scriptOf(attributes, tagAt, base)
    if (script?.src != null) page.scripts.push(script)
  }
  const addUrl = (address: string | undefined) => {
    const found = absolute(address ?? '', base)
    if (found !== null) page.otherUrls.push(found)
  }
  const endText = () => {
    if (script !== null && script.src === null && script.code !== '') page.scripts.push(script)
    script = null
    inTitle = false
  }

  const callbacks: TokenizerCallbacks = {
    onopentagname(start, end) {
      endText()
      name = html.slice(start, end).toLowerCase()
      tagAt = start - 1
      attributes = new Map()
    },
    onattribname(start, end) {
      attribute = { name: html.slice(start, end).toLowerCase(), value: '' }
    },
    onattribdata(start, end) {
      attribute.value += html.slice(start, end)
    },
    onattribentity(codePoint) {
      attribute.value += String.fromCodePoint(codePoint)
    },
    onattribend() {
      if (!attributes.has(attribute.name)) attributes.set(attribute.name, attribute.value)
    },
    onopentagend: openTag,
    onselfclosingtag: openTag,
    onclosetag(start, end) {
      endText()
      if (INERT.includes(html.slice(start, end).toLowerCase())) inert = Math.max(0, inert - 1)
    },
    ontext(start, end) {
      if (inTitle) page.title += html.slice(start, end)
      if (script === null || script.src !== null) return
      if (script.code === '') script.at = start
      script.code += html.slice(start, end)
    },
    ontextentity(codePoint) {
      if (inTitle) page.title += String.fromCodePoint(codePoint)
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
  if (!RUNS.test((attributes.get('type') ?? '').trim())) return null
  const address = ['src', ...DELAYED_SOURCES].map((name) => attributes.get(name)).find((value) => value !== undefined)
  const isAsync = ['async', 'defer'].some((name) => attributes.has(name)) || attributes.get('type') === 'module'
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
