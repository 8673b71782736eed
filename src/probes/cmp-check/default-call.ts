import type { Token } from './javascript.ts'

/** A call that sets Google's consent defaults, whatever makes it: `gtag('consent', 'default', {…})` or a wrapper. */
export interface ConsentDefault {
  /** Where in the code. */
  at: number
  /** What is set; null for what is computed. */
  values: Readonly<Record<string, string | null>>
  /** All of it is in the call: nothing is spread into it, and it is no variable. */
  isWhole: boolean
}

/** Real pages make one or two. */
const CALLS_MAX = 200
/** Of one call. */
const KEYS_MAX = 50
/** Characters of a key or a value. */
const VALUE_MAX = 100

/** What the next piece of code has to be for this to be such a call. */
type Stage = 'comma' | 'command' | 'second comma' | 'object' | 'key' | 'colon' | 'value' | 'rest of value' | 'unknown'

/** Follows code piece by piece and finds the calls in it. Code that ends in the middle of one has none there. */
export class DefaultCallReader {
  readonly found: ConsentDefault[] = []
  #stage: Stage | null = null
  #at = 0
  #values = new Map<string, string | null>()
  #isWhole = true
  #key = ''
  /** Brackets that are open, the object's own included. */
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
        // Spread, or a computed name.
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
