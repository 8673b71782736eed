import fc from 'fast-check'
import type { Random } from '../../../testkit/random.ts'

/** Texts that break things: NUL, lone surrogates, marks of order and direction, names that objects have already. */
const HOSTILE_TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udfff\ud800y',
  '\ufeff',
  '\u202eevil\u202c',
  '\u0000\u0001\u001f\u007f\u0085\u2028\u2029',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '__defineGetter__',
  '(other)',
  'tag_1',
  'null',
  'undefined',
  'NaN',
  '-1',
  '1e400',
  '9007199254740993',
  '../../../../etc/passwd',
  '%00',
  '%ff%fe',
  '%2e%2e%2f',
  "'; drop table sites; --",
  '" or 1=1 --',
  '%',
  '_',
  '<script>alert(1)</script>',
  '=cmd|calc',
  '{{7*7}}',
  '\r\nX-Injected: yes',
  '👩‍👩‍👧‍👦'.repeat(20),
  'ﷺ'.repeat(100),
  'a'.repeat(255),
  'a'.repeat(256),
  'a'.repeat(257),
  'ß'.repeat(256),
  'x'.repeat(5_000),
] as const

const HOSTILE_NUMBERS = [
  0,
  -0,
  -1,
  0.1,
  1.5,
  1e21,
  -1e21,
  1e308,
  5e-324,
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 63,
  -(2 ** 53),
  8.64e15,
  8.64e15 + 1,
] as const

/** JSON that no program writes, but a reader may meet. It stands for a value in a text. */
export const RAW_VALUES = [
  '1e400',
  '-1e400',
  '-0',
  '9007199254740993',
  `1${'0'.repeat(400)}`,
  '0.1e-999',
  '[[[[[[[[[[]]]]]]]]]]',
  '"\\ud800"',
  '"\\u0000"',
  '"\\x41"',
  'NaN',
  'Infinity',
  'undefined',
  "'single'",
  '01',
  '+1',
  '.5',
  '1.',
  'tru',
  '{"__proto__":{"batch":true}}',
  '{"constructor":{"prototype":{"isOpen":true}}}',
  '{"toJSON":1,"length":-1}',
  '/* comment */ 1',
  '',
] as const

const textArbitrary = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.string({ maxLength: 40 }),
  fc.webUrl({ withQueryParameters: true, withFragments: true }).map((url) => url.replace(/:\/\/[^/]*/, '://x.invalid')),
  fc.emailAddress(),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.uuid(),
)
const valueArbitrary = fc.anything({
  maxDepth: 3,
  withNullPrototype: false,
  withObjectString: true,
  withUnicodeString: true,
  values: [fc.string({ unit: 'binary', maxLength: 30 }), fc.double(), fc.integer(), fc.boolean(), fc.constant(null)],
} as fc.ObjectConstraints)

const POOL_SIZE = 500
const DRAWS_PER_POOL = 200_000

/** Hostile values, partly fast-check's: those are drawn in pools, because drawing one costs more than sending it. */
export class HostileValues {
  readonly #random: Random
  #texts: string[] = []
  #values: unknown[] = []
  #draws = DRAWS_PER_POOL

  constructor(random: Random) {
    this.#random = random
  }

  text(): string {
    this.#fill()
    const random = this.#random
    if (random.chance(0.5)) return random.pick(HOSTILE_TEXTS)
    return random.anyOf(this.#texts) ?? ''
  }

  /** Anything that JSON can carry. */
  value(): unknown {
    this.#fill()
    const random = this.#random
    switch (random.below(9)) {
      case 0:
        return null
      case 1:
        return random.chance(0.5)
      case 2:
      case 3:
        return random.pick(HOSTILE_NUMBERS)
      case 4:
        return Array.from({ length: random.below(4) }, () => this.text())
      case 5:
        return { [this.text()]: this.text(), length: -1 }
      case 6:
        // A copy, because it is broken further where it is put.
        return structuredClone(random.anyOf(this.#values) ?? null)
      default:
        return this.text()
    }
  }

  #fill(): void {
    if (this.#draws++ < DRAWS_PER_POOL) return
    this.#draws = 0
    const options = { seed: this.#random.below(2 ** 31), numRuns: POOL_SIZE }
    this.#texts = fc.sample(textArbitrary, options)
    this.#values = fc.sample(valueArbitrary, options)
  }
}
