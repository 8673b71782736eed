import { escaped } from './wire/message.ts'

const SHOWN = 20

/** What went wrong, each with the bytes that did it. */
export class Failures {
  readonly #entries = new Map<string, { count: number; generator: string; bytes: Buffer | null }>()
  readonly #seed: number
  readonly #onNew: (text: string) => void

  /** @param onNew called at once with each new kind of failure */
  constructor(seed: number, onNew: (text: string) => void) {
    this.#seed = seed
    this.#onNew = onNew
  }

  get count(): number {
    return this.#entries.size
  }

  /** @param bytes that were sent; null for what no single request did. The shortest of each kind are kept. */
  add(what: string, generator: string, bytes: Buffer | null): void {
    const known = this.#entries.get(what)
    if (known === undefined) {
      this.#entries.set(what, { count: 1, generator, bytes })
      if (this.count <= SHOWN) this.#onNew(`${generator}: ${what}${bytes === null ? '' : ` ${escaped(bytes)}`}`)
    } else {
      known.count++
      if (bytes !== null && known.bytes !== null && bytes.length < known.bytes.length) known.bytes = bytes
    }
  }

  get withBytes(): { what: string; bytes: Buffer }[] {
    return [...this.#entries].flatMap(([what, { bytes }]) => (bytes === null ? [] : [{ what, bytes }]))
  }

  /** Puts shorter bytes in the place of those that were found. */
  shorten(what: string, bytes: Buffer): void {
    const known = this.#entries.get(what)
    if (known !== undefined) known.bytes = bytes
  }

  text(): string {
    const lines = [...this.#entries].slice(0, SHOWN).map(([what, { count, generator, bytes }]) => {
      const sent = bytes === null ? '' : `\n    ${escaped(bytes)}`
      return `- ${generator}: ${what} (${count} times)${sent}`
    })
    return [`${this.count} kinds of failure with --seed ${this.#seed}:`, ...lines].join('\n')
  }
}
