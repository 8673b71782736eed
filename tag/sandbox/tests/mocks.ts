import { apiNamed, isObjectApi, unknownApi } from '../apis/index.ts'
import { type Inner, type InnerFunction, type Realm, show } from '../realm/index.ts'

/** Functions that a scenario may mock and ask about although no `require` gives them. */
const OUTCOMES = ['gtmOnSuccess', 'gtmOnFailure']

/** The mocks of one scenario and the calls of all APIs in it. */
export class Mocks {
  readonly #realm: Realm
  readonly #mocks = new Map<string, Inner>()
  readonly #calls = new Map<string, Inner[][]>()

  constructor(realm: Realm) {
    this.#realm = realm
  }

  /**
   * `mock(name, value)`: a function stands in for the API, anything else is what the API returns. For an API that is an object
   * with functions, `value` is the object that stands in for it, or a function that gives it (O). A name that nothing has is
   * mocked without effect, as in published templates (O); the lint warns of it.
   */
  mock(name: string, value: Inner): void {
    if (isObjectApi(name)) {
      this.mockObject(name, typeof value === 'function' ? (value as InnerFunction)() : value)
      return
    }
    const stand = typeof value === 'function' ? (value as InnerFunction) : () => value
    this.#mocks.set(name, this.spy(name, stand))
  }

  /** `mockObject(name, object)`. */
  mockObject(name: string, object: Inner): void {
    this.#demandKnown(name)
    if (!isObjectApi(name)) throw new TypeError(`"${name}" is a function; use mock.`)
    if (typeof object !== 'object' || object === null) {
      throw new TypeError(`"${name}" is an object: its mock must be one, not ${show(object)}.`)
    }
    this.#mocks.set(name, object)
  }

  has(name: string): boolean {
    return this.#mocks.has(name)
  }

  get(name: string): Inner {
    return this.#mocks.get(name)
  }

  /** The same function, with its calls noted. Arguments are noted as they are then, not as they become. */
  spy(name: string, call: InnerFunction): InnerFunction {
    return this.#realm.inside.wrap((...args) => {
      const calls = this.#calls.get(name) ?? []
      calls.push(args.map((argument) => this.#realm.inside.copy(argument)))
      this.#calls.set(name, calls)
      return call(...args)
    })
  }

  /** The calls of an API or outcome so far. Throws TypeError on a name that is neither. */
  calls(name: string): readonly (readonly Inner[])[] {
    this.#demandKnown(name)
    if (isObjectApi(name)) throw new TypeError(`assertApi knows functions only; "${name}" is an object.`)
    return this.#calls.get(name) ?? []
  }

  #demandKnown(name: string): void {
    if (apiNamed(name) === undefined && !OUTCOMES.includes(name)) throw new TypeError(unknownApi(name))
  }
}
