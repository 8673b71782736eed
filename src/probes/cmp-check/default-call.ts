import type { Token } from './javascript.ts'

/** A call that sets Google's consent defaults: `gtag('consent', 'default', {…})`, or the same through a wrapper. */
export interface ConsentDefault {
  /** Position in the code. */
  at: number
  /** The values set; null for computed ones. */
  values: Readonly<Record<string, string | null>>
  /** The call contains all values: no variable and no spread. */
  isWhole: boolean
}

/** Real pages make one or two. */
const CALLS_MAX = 200
/** Per call. */
const KEYS_MAX = 50
/** Characters of a key or a value. */
const VALUE_MAX = 100

/** What the next token must be for this to be such a call. */
type Stage = 'comma' | 'command' | 'second comma' | 'object' | 'key' | 'colon' | 'value' | 'rest of value' | 'unknown'

/** Finds the calls in code, token by token. A call cut off by the end of the code is not found. */
export class DefaultCallReader {
  readonly found: ConsentDefault[] = []
  #stage: Stage | null = null
  #at = 0
  #values = new Map<string, string | null>()
  #isWhole = true
  #key = ''
  /** Number of open brackets, including the object's own. */
  #depth = 0
  #before: Token | null = null

  take(token: Token): void {
    const stage = this.#stage
    if (stage !== null) this.#stage = this.#step(stage, token)
    if (this.#stage === null && isString(token, 'consent') && this.#before?.text === '(') this.#begin(token.at)
    this.#before = token
  }

  #begin(at: number): void {
    this.#at = at
    this.#values = new Map()
    this.#isWhole = true
    this.#depth = 0
    this.#stage = 'comma'
  }

  #end(): null {
    if (this.found.length < CALLS_MAX)
      this.found.push({ at: this.#at, values: Object.fromEntries(this.#values), isWhole: this.#isWhole })
    return null
  }

  #step(stage: Stage, token: Token): Stage | null {
    switch (stage) {
      case 'comma':
        return isMark(token, ',') ? 'command' : null
      case 'command':
        return isString(token, 'default') ? 'second comma' : null
      case 'second comma':
        if (isMark(token, ',')) return 'object'
        this.#isWhole = false
        return isMark(token, ')') ? this.#end() : null
      case 'object':
        if (isMark(token, '{')) {
          this.#depth = 1
          return 'key'
        }
        this.#isWhole = false
        return this.#end()
      default:
        return this.#stepInObject(stage, token)
    }
  }

  #stepInObject(stage: Stage, token: Token): Stage | null {
    const isOuter = this.#depth === 1
    if (token.kind === 'punctuator') {
      if ('{[('.includes(token.text)) this.#depth++
      if ('}])'.includes(token.text)) this.#depth--
      if (this.#depth === 0) return this.#end()
      if (!isOuter) return stage
    } else if (!isOuter) return stage
    if (isMark(token, ',')) return 'key'
    if (stage === 'unknown') return 'unknown'
    if (stage === 'key') {
      if (token.kind === 'punctuator') {
        // A spread or a computed key.
        this.#isWhole = false
        return 'unknown'
      }
      this.#key = token.text.slice(0, VALUE_MAX)
      this.#set(null)
      return 'colon'
    }
    if (stage === 'colon') return isMark(token, ':') ? 'value' : 'rest of value'
    if (stage === 'value' && token.kind !== 'punctuator') {
      const isConstant = token.kind === 'string' || /^\d+$/.test(token.text)
      this.#set(isConstant ? token.text : null)
    } else this.#set(null)
    return 'rest of value'
  }

  #set(value: string | null): void {
    const isKnown = this.#values.has(this.#key)
    if (isKnown || this.#values.size < KEYS_MAX) this.#values.set(this.#key, value?.slice(0, VALUE_MAX) ?? null)
  }
}

const isString = ({ kind, text }: Token, wanted: string): boolean => kind === 'string' && text === wanted
const isMark = ({ kind, text }: Token, wanted: string): boolean => kind === 'punctuator' && text === wanted
