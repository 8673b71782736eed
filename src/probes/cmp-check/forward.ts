import type { Token } from './javascript.ts'

/** Where a page sends visitors on to; `to` is null when a script computes the address. */
export interface Forward {
  to: string | null
}

const CALLS = ['replace', 'assign']
/** A declaration of something else called `location`, or a field of something else. */
const OTHERS = ['var', 'let', 'const', 'function', '.']
const WINDOWS = ['window', 'document', 'self', 'top', 'parent', 'globalThis']

/** Tokens of `window.location.replace(` and one before it. */
const REACH = 7

/** Finds the first statement of a script that leads the browser to another page. */
export class ForwardReader {
  found: Forward | null = null
  /** The latest tokens, latest last; strings as empty text, as their content is no code. */
  readonly #before: string[] = []
  #isAfterAddress = false

  take({ kind, text }: Token): void {
    // What is added to a literal is not known.
    if (this.#isAfterAddress && text === '+') this.found = { to: null }
    this.#isAfterAddress = false
    if (this.found === null && this.#isTarget(text)) {
      this.found = { to: kind === 'string' ? text : null }
      this.#isAfterAddress = true
    }
    if (this.#before.push(kind === 'string' ? '' : text) > REACH) this.#before.shift()
  }

  /** Whether what comes next is the address. */
  #isTarget(next: string): boolean {
    const at = this.#before.lastIndexOf('location')
    const object = this.#before.slice(0, Math.max(at, 0))
    const isOther = OTHERS.includes(object.at(-1) ?? '') && !WINDOWS.includes(object.at(-2) ?? '')
    if (at === -1 || isOther) return false
    const [first, second, third, more] = this.#before.slice(at + 1)
    if (first === '=' && second === undefined) return isValue(next)
    if (first !== '.' || more !== undefined) return false
    return second === 'href' ? third === '=' && isValue(next) : third === '(' && CALLS.includes(second ?? '')
  }
}

/** Not the rest of `==` or `=>`. */
const isValue = (next: string): boolean => next !== '=' && next !== '>'
