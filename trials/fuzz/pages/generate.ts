import type { OutboundBytes } from '../../../src/outbound/index.ts'
import type { Random } from '../../../testkit/random.ts'
import type { Seeds } from './seeds.ts'

/** One of so many bodies is as long as the check reads them; the others are short, so that many are tried. */
const LONG_EVERY = 40
const SHORT = 6_000

const TAGS = [
  'script',
  'link',
  'base',
  'iframe',
  'title',
  'noscript',
  'template',
  'div',
  'textarea',
  'svg',
  '!--',
  'ſcript',
] as const
const ATTRIBUTES = [
  'src',
  'href',
  'rel',
  'type',
  'id',
  'class',
  'data-src',
  'data-cbid',
  'async',
  'data-rocket-src',
] as const
const VALUES = [
  'preload',
  'module',
  'text/javascript',
  'prefetch',
  '',
  '//',
  'https://',
  'data:,',
  '/gtm.js?id=GTM-ABC1234',
] as const
const CODE = [
  "gtag('consent','default',",
  "gtag('config',",
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  '`',
  '${',
  '/',
  '/*',
  '*/',
  '//',
  '<!--',
  '\\',
  '"',
  "'",
  '=',
  '\n',
  "'GTM-ABC1234'",
  'dataLayer',
  '__tcfapi=',
  '"resource":{',
  '"version":"42"',
  '"access_consent":{',
  '\\u003C',
  '\\x26',
  '\\/',
] as const
const CHARSETS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'gb18030',
  'iso-2022-jp',
  'big5',
  'x-user-defined',
  'windows-1252',
  'nonsense',
  '"',
] as const
const TYPES = ['text/html', 'application/javascript', 'application/json', 'text/plain', ''] as const
const STATUSES = [200, 200, 200, 200, 200, 200, 204, 301, 302, 308, 403, 404, 429, 500, 503] as const
const HEADERS = ['cf-mitigated', 'x-amzn-waf-action', 'x-datadome', 'retry-after', 'server', 'set-cookie'] as const

/** Answers of servers that mean harm, each another. */
export class HostileAnswers {
  readonly #random: Random
  readonly #seeds: Seeds
  /** Bodies by what they are. */
  readonly made = { html: 0, script: 0, json: 0, noise: 0 }

  constructor(random: Random, seeds: Seeds) {
    this.#random = random
    this.#seeds = seeds
  }

  /** @param maxBytes that are read of a body, as of `limits.bodyBytes` */
  next(url: string, maxBytes: number): OutboundBytes {
    const random = this.#random
    const length = random.below(LONG_EVERY) === 0 ? maxBytes : random.below(SHORT)
    const text = this.#body(length)
    const whole = random.chance(0.1) ? Buffer.from(text, 'utf16le') : Buffer.from(text)
    const bytes = new Uint8Array(Math.min(whole.length, maxBytes))
    bytes.set(whole.subarray(0, bytes.length))
    const status = random.pick(STATUSES)
    const isRedirect = status > 300 && status < 400 && random.chance(0.5)
    const location = isRedirect ? (URL.parse(this.#address(random.below(9_000)), url)?.href ?? null) : null
    return {
      url,
      status,
      headers: this.#headers(),
      bytes,
      isTruncated: whole.length > maxBytes,
      redirects: [],
      location,
      timings: { dns: 1, connect: 1, tls: null, firstByte: 1, total: 4 },
      certificate: null,
    }
  }

  #headers(): Record<string, string> {
    const random = this.#random
    const headers: Record<string, string> = {}
    if (random.chance(0.8))
      headers['content-type'] =
        `${random.pick(TYPES)}; charset=${random.pick(CHARSETS)}${random.chance(0.05) ? this.#pumped(4_000) : ''}`
    if (random.chance(0.1)) headers[random.pick(HEADERS)] = this.#pumped(random.below(30_000))
    return headers
  }

  #body(length: number): string {
    const random = this.#random
    const kind = random.pick(['html', 'html', 'html', 'script', 'json', 'noise'])
    this.made[kind as keyof typeof this.made]++
    if (kind === 'html') return this.#filled(length, () => this.#tag(length))
    if (kind === 'script') return this.#filled(length, () => this.#code(length))
    if (kind === 'json') return this.#json(length)
    return this.#filled(length, () => String.fromCharCode(random.below(65_536)))
  }

  /** A few kinds of pieces, each some or very many times. */
  #filled(length: number, piece: () => string): string {
    const random = this.#random
    let text = ''
    while (text.length < length) {
      const one = piece()
      const room = Math.ceil((length - text.length) / Math.max(1, one.length))
      text += one.repeat(random.chance(0.3) ? Math.max(1, random.below(room)) : 1)
      if (one === '') text += ' '
    }
    return text
  }

  #tag(length: number): string {
    const random = this.#random
    const name = random.pick(TAGS)
    let tag = `<${name}`
    for (let count = random.below(4); count > 0; count--) {
      const quote = random.pick(['"', "'", ''])
      const value = random.chance(0.3) ? random.pick(VALUES) : this.#address(random.below(Math.max(1, length)))
      tag += ` ${random.chance(0.9) ? random.pick(ATTRIBUTES) : this.#pumped(50)}=${quote}${value}${quote}`
    }
    const end = random.chance(0.9) ? '>' : ''
    const inside = name === 'script' || random.chance(0.2) ? this.#code(length) : ''
    return `${tag}${end}${inside}${random.chance(0.7) ? `</${name}>` : ''}`
  }

  #code(length: number): string {
    const random = this.#random
    let code = ''
    for (let count = random.below(12); count > 0; count--) {
      code += random.chance(0.6)
        ? random.pick(CODE)
        : random.chance(0.5)
          ? this.#sign()
          : this.#pumped(random.below(length / 4))
    }
    return code
  }

  #address(length: number): string {
    const random = this.#random
    return `${random.chance(0.7) ? this.#sign() : random.pick(VALUES)}${this.#pumped(random.chance(0.8) ? random.below(200) : length)}`
  }

  #sign(): string {
    return this.#random.anyOf(this.#seeds.signs) ?? ''
  }

  /** A part of what some pattern takes, again and again, and then something else. */
  #pumped(length: number): string {
    const random = this.#random
    const unit = random.anyOf(this.#seeds.units) ?? 'x'
    const end = random.chance(0.5)
      ? random.pick(['\n', '!', '\u0001', '.js', '>', '"', ''])
      : (random.anyOf(this.#seeds.units) ?? '')
    return unit.repeat(Math.ceil(Math.max(0, length) / unit.length)) + end
  }

  #json(length: number): string {
    const random = this.#random
    switch (random.below(5)) {
      case 0:
        return '['.repeat(length)
      case 1:
        return `${'{"body":'.repeat(length / 10)}1${'}'.repeat(length / 10)}`
      case 2:
        return `{"body":{"status":${JSON.stringify(this.#pumped(length / 2))},"warnings":[${'{},'.repeat(length / 8)}1]}}`
      case 3:
        return `{${this.#filled(length, () => `${JSON.stringify(random.pick(['body', 'status', '__proto__', 'name', 'error', 'length']))}:${random.pick(['1', 'null', '"ok"', '[]', '{}', '1e999', '-0'])},`)}"x":1}`
      default:
        return JSON.stringify({
          body: { status: { type: this.#pumped(200), label: this.#sign() }, zone: [], error: this.#pumped(length / 2) },
        })
    }
  }
}
