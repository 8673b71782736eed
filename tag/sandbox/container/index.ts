import { Transport } from '../transport.ts'
import type {
  ContainerOptions,
  EventRun,
  FireOptions,
  LogLine,
  LostInstance,
  OtherTag,
  Plain,
  SentCounters,
  SentRequest,
} from '../types.ts'
import { Instance, type Surroundings } from './instance.ts'
import { Ledger } from './ledger.ts'
import { settle } from './settings.ts'

/**
 * A server container with the template as one of its tags, on one or more instances. Its HTTP is real, its time is the
 * injected clock's. Throws TypeError on fields that the template does not have.
 */
export class Container {
  /** What threw outside of an event's own run: jobs, request handlers, rejections without a handler. */
  readonly errors: string[] = []
  readonly logs: LogLine[] = []
  readonly #shared: Surroundings
  readonly #instances: Instance[]
  #turn = 0

  constructor(given: ContainerOptions) {
    const options = settle(given)
    const scale = options.timeoutScale
    const timeoutScale = typeof scale === 'number' ? () => scale : scale
    this.#shared = {
      options,
      transport: new Transport(options.connect, timeoutScale),
      timeoutScale,
      ledger: new Ledger(),
      log: (instance, text) => void this.logs.push({ instance, text }),
      error: (text) => void this.errors.push(text),
    }
    this.#instances = Array.from({ length: options.instances }, (_, index) => new Instance(index, this.#shared))
  }

  /** Counts over all instances, lost ones included. */
  get sent(): Readonly<SentCounters> {
    return this.#shared.ledger.counters
  }

  /** Every request in the order of sending. */
  get requests(): readonly SentRequest[] {
    return this.#shared.ledger.requests
  }

  /**
   * One event in which the template's tag fires beside `tags`. Ends when the event callbacks have run; requests that
   * they started may still be under way, as no container waits for them.
   */
  fire(
    event: Readonly<Record<string, Plain>>,
    tags: readonly OtherTag[],
    { instance, preview = false }: FireOptions = {},
  ): Promise<EventRun> {
    return this.#at(instance ?? this.#turn++ % this.#instances.length).run(event, tags, preview)
  }

  /** Stops an instance with everything it holds; a fresh one takes its place. */
  lose(index: number): LostInstance {
    const instance = this.#at(index)
    const lost = { storage: instance.storage.contents(), requests: instance.requestsUnderWay }
    instance.stop()
    this.#instances[index] = new Instance(index, this.#shared)
    return lost
  }

  /** What an instance stores in templateDataStorage. */
  storage(index: number): Readonly<Record<string, Plain>> {
    return this.#at(index).storage.contents()
  }

  /** Waits until no request is under way. */
  async idle(): Promise<void> {
    await Promise.all(this.#instances.map((instance) => instance.idle()))
  }

  /** Cuts off what is under way and closes the sockets. */
  close(): void {
    for (const instance of this.#instances) instance.stop()
    this.#shared.transport.close()
  }

  #at(index: number): Instance {
    const instance = this.#instances[index]
    if (instance === undefined) throw new RangeError(`There is no instance ${index}.`)
    return instance
  }
}
