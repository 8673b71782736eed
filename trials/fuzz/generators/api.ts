import type { Random } from '../../../testkit/random.ts'
import type { Victim } from '../fixture.ts'
import { isIngest, type Operation, type Parameter } from '../operations.ts'
import { sample } from '../schema.ts'
import { chunked, type Message } from '../wire/message.ts'
import { contentHeaders, hostileHeaders } from './headers.ts'
import { brokenJson } from './json.ts'
import type { HostileValues } from './values.ts'

/** Calls that would use up the victim, or take long: made now and then. */
const SPARED = /revoke-key|\/run$|\/api\/stream|test-notification|retry$/
const SPARED_SHARE = 0.01
const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'M-SEARCH',
] as const

export interface ApiCall {
  operation: Operation
  message: Message
}

/** Calls to every operation of the interface, with hostile parameters, queries, headers and bodies. */
export class ApiAttack {
  readonly #random: Random
  readonly #hostile: HostileValues
  readonly #operations: readonly Operation[]
  readonly #victim: Victim

  constructor(random: Random, hostile: HostileValues, operations: readonly Operation[], victim: Victim) {
    this.#random = random
    this.#hostile = hostile
    this.#operations = operations
    this.#victim = victim
  }

  /** @param base headers that every call carries */
  next(base: readonly [string, string][]): ApiCall {
    const random = this.#random
    const operation = this.#operation()
    const method = random.chance(0.97) ? operation.method : random.pick(METHODS)
    const headers: [string, string][] = [...base]
    if (isIngest(operation)) headers.push(['X-Service-Key', this.#victim.ingestKey])
    if (random.chance(0.2)) headers.push(...hostileHeaders(random, this.#hostile))
    let body: Buffer | null = null
    if (operation.body !== null || random.chance(0.03)) {
      body = brokenJson(
        random,
        this.#hostile,
        sample(random, operation.body ?? {}, (name) => this.#victim.idOf(name)),
      )
      headers.push(...contentHeaders(random))
      if (random.chance(0.1)) {
        body = chunked(body, () => random.below(100))
        headers.push(['Transfer-Encoding', 'chunked'])
      }
    }
    const target = this.#path(operation, method) + this.#query(operation)
    return { operation, message: { method, target, headers, body } }
  }

  #operation(): Operation {
    for (;;) {
      const operation = this.#random.anyOf(this.#operations)
      if (operation === undefined) throw new Error('the service describes no operation')
      if (!SPARED.test(operation.path) || this.#random.chance(SPARED_SHARE)) return operation
    }
  }

  #path(operation: Operation, method: string): string {
    // Deletions mostly miss: making the victim again costs more than the rest.
    const aims = method === 'DELETE' ? 0.02 : 0.75
    return operation.path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => {
      const id = this.#victim.idOf(name)
      if (id !== undefined && this.#random.chance(aims)) return id
      if (this.#random.chance(0.2)) return this.#random.anyOf(this.#victim.ids) ?? name
      return this.#encoded(this.#hostile.text()) || '%00'
    })
  }

  #query({ parameters }: Operation): string {
    const random = this.#random
    const parts: string[] = []
    for (const parameter of parameters) {
      if (parameter.in === 'query' && random.chance(0.35)) parts.push(...this.#parameter(parameter))
    }
    if (random.chance(0.05)) parts.push(`${this.#encoded(this.#hostile.text())}=${this.#encoded(this.#hostile.text())}`)
    return parts.length === 0 ? '' : `?${parts.join('&')}`
  }

  #parameter({ name, schema }: Parameter): string[] {
    const random = this.#random
    const fitting = () => encodeURIComponent(String(sample(random, schema, (known) => this.#victim.idOf(known), name)))
    switch (random.below(10)) {
      case 0:
        return [`${name}[]=${fitting()}`, `${name}[constructor]=1`]
      case 1:
        return [`${name}=${fitting()}`, `${name}=${fitting()}`]
      case 2:
        return Array.from({ length: 300 }, () => `${name}=`)
      case 3:
      case 4:
        return [`${name}=${this.#encoded(this.#hostile.text())}`]
      case 5:
        return [`${name}=${encodeURIComponent((JSON.stringify(this.#hostile.value()) ?? '').toWellFormed())}`]
      default:
        return [`${name}=${fitting()}`]
    }
  }

  /** Percent-encoded, or raw where a target can carry it. */
  #encoded(text: string): string {
    const well = text.toWellFormed()
    if (this.#random.chance(0.8)) return encodeURIComponent(well)
    return Buffer.from(well)
      .toString('latin1')
      .replaceAll(/[^\x21-\x7e\x80-\xff]|[?#&]/g, '%')
  }
}
