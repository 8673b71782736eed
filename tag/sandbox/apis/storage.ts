import { type Inner, type Realm, toPlain } from '../realm/index.ts'
import type { Plain } from '../types.ts'

/** The memory behind templateDataStorage: one for all runs of a template on one instance. */
export class TemplateStorage {
  readonly #items = new Map<string, Plain>()

  /** Everything in it. The values are never changed in place, so they need no copy. */
  contents(): Record<string, Plain> {
    return Object.fromEntries(this.#items)
  }

  /** The API's object. Values are copied in and out (T). */
  api({ inside }: Realm): Inner {
    return inside.object({
      getItemCopy: inside.wrap((key) => inside.copy(this.#items.get(String(key)) ?? null)),
      setItemCopy: inside.wrap((key, value) => this.#set(String(key), value)),
      removeItem: inside.wrap((key) => void this.#items.delete(String(key))),
      clear: inside.wrap(() => this.#items.clear()),
    })
  }

  #set(key: string, value: Inner): void {
    if (value === null || value === undefined) this.#items.delete(key)
    else this.#items.set(key, toPlain(value, 'templateDataStorage'))
  }
}
