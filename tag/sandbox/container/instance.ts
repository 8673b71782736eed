import { type Host, type OutgoingRequest, requireFor, type Settlement, TemplateStorage } from '../apis/index.ts'
import { Permissions } from '../permissions.ts'
import { describeError, type InnerFunction, Realm } from '../realm/index.ts'
import { NoAnswer, type Transport } from '../transport.ts'
import type { ContainerOptions, EventRun, OtherTag, Plain } from '../types.ts'
import type { Ledger } from './ledger.ts'
import { entryOf, type TagEntry, TagRun } from './tag-run.ts'

/** What all instances of a container share. */
export interface Surroundings {
  readonly options: Required<ContainerOptions>
  readonly transport: Transport
  readonly timeoutScale: () => number
  readonly ledger: Ledger
  readonly log: (instance: number, text: string) => void
  readonly error: (text: string) => void
}

/** One server process: its own context and memory. Events run in it one after the other, as code does in Node. */
export class Instance {
  readonly storage = new TemplateStorage()
  readonly #index: number
  readonly #shared: Surroundings
  readonly #realm: Realm
  readonly #permissions: Permissions
  readonly #code: InnerFunction
  readonly #life = new AbortController()
  readonly #underWay = new Set<Promise<void>>()

  constructor(index: number, shared: Surroundings) {
    this.#index = index
    this.#shared = shared
    const { template } = shared.options
    this.#realm = new Realm((error) => shared.error(describeError(error)))
    this.#permissions = new Permissions(template.permissions)
    this.#code = this.#realm.compile({ ...template.code, file: 'template.tpl' }, ['require', 'data'])
  }

  get requestsUnderWay(): number {
    return this.#underWay.size
  }

  /** Runs the tag for an event, waits for its outcome, then runs the callbacks that it registered. */
  async run(event: Plain, tags: readonly OtherTag[], preview: boolean): Promise<EventRun> {
    const run = new TagRun(this.#shared.options.clock.now())
    const host = this.#host(event, preview, run)
    const { inside, jobs } = this.#realm
    const data = inside.copy({
      ...this.#shared.options.fields,
      gtmOnSuccess: inside.wrap(() => run.end('success', this.#shared.options.clock.now())),
      gtmOnFailure: inside.wrap(() => run.end('failure', this.#shared.options.clock.now())),
    })
    this.#guarded(run, () => {
      try {
        jobs.run(() => this.#code(inside.wrap(requireFor(host)), data))
      } catch (error) {
        run.end('exception', this.#shared.options.clock.now())
        throw error
      }
    })
    for (const { messages = [] } of tags) for (const { type, message } of messages) this.#deliver(run, type, message)
    // A tag may end when its request does. Nothing else can wake it, so without one it hangs until the time limit.
    while (run.status === null && run.requests.size > 0) await Promise.race(run.requests)
    if (run.status === null) run.end('timeout', this.#shared.options.clock.now())
    this.#finish(run, tags)
    return { instance: this.#index, status: run.status ?? 'timeout', errors: run.errors }
  }

  /** Ends the instance: what is under way is cut off, and no code of the template runs any more. */
  stop(): void {
    this.#life.abort()
  }

  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.race(this.#underWay)
  }

  #finish(run: TagRun, tags: readonly OtherTag[]): void {
    const { containerId } = this.#shared.options
    const entries = [...tags.map(entryOf), this.#ownEntry(run)].toSorted((one, other) => one.id - other.id)
    run.over = true
    for (const callback of run.callbacks) {
      if (this.#life.signal.aborted) return
      this.#guarded(run, () =>
        this.#realm.jobs.run(() => callback(containerId, this.#realm.inside.copy({ tags: entries }))),
      )
    }
  }

  /** To the listeners of the event, at once (D). */
  #deliver(run: TagRun, type: string, message: unknown): void {
    const { inside, jobs } = this.#realm
    for (const listener of run.listeners.filter((one) => one.type === type)) {
      this.#guarded(run, () => jobs.run(() => listener.callback(type, inside.copy(message))))
    }
  }

  #ownEntry(run: TagRun): TagEntry {
    const { tagId, tagMetadata } = this.#shared.options
    const status = run.status ?? 'timeout'
    return entryOf({ id: tagId, status, executionTime: run.endedAt - run.startedAt, metadata: tagMetadata })
  }

  #guarded(run: TagRun, call: () => void): void {
    try {
      call()
    } catch (error) {
      const text = describeError(error)
      run.errors.push(text)
      this.#shared.error(text)
    }
  }

  #host(event: Plain, preview: boolean, run: TagRun): Host {
    const { clock, random, containerId, environment } = this.#shared.options
    return {
      realm: this.#realm,
      permissions: this.#permissions,
      clock,
      random,
      // A preview request has a store that lives as long as the request (T).
      storage: preview ? new TemplateStorage() : this.storage,
      event: () => event,
      clientName: () => 'GA4',
      containerVersion: () => ({
        containerId,
        debugMode: preview,
        environmentName: preview ? '' : environment,
        environmentMode: false,
        previewMode: preview,
        version: preview ? 'QUICK_PREVIEW' : '1',
      }),
      log: (text) => {
        if (this.#permissions.prints(preview)) this.#shared.log(this.#index, text)
      },
      addEventCallback: (callback) => {
        if (!run.over) run.callbacks.push(callback)
        else this.#shared.error('addEventCallback came after the end of its event; the callback never runs.')
      },
      addMessageListener: (type, callback) => void run.listeners.push({ type, callback }),
      sendMessage: (type, message) => this.#deliver(run, type, message),
      send: (request, settlement) => this.#send(request, settlement, run),
    }
  }

  #send(request: OutgoingRequest, settlement: Settlement, run: TagRun): void {
    const sending = this.#exchange(request, settlement).finally(() => {
      this.#underWay.delete(sending)
      run.requests.delete(sending)
    })
    this.#underWay.add(sending)
    run.requests.add(sending)
  }

  /** Never rejects: what the template's handlers throw is noted. */
  async #exchange(request: OutgoingRequest, settlement: Settlement): Promise<void> {
    const end = this.#shared.ledger.start(this.#index, request)
    const over = new AbortController()
    this.#giveUpEarly(settlement, over.signal)
    try {
      const answer = await this.#shared.transport.send(request, this.#life.signal)
      end({ outcome: 'answered', statusCode: answer.statusCode })
      this.#settle(() => settlement.answered(answer))
    } catch (error) {
      const { reason, message } = error instanceof NoAnswer ? error : new NoAnswer('failed', describeError(error))
      end({ outcome: reason, error: message })
      if (reason !== 'lost') this.#settle(() => settlement.failed(reason))
    }
    over.abort()
  }

  #settle(call: () => void): void {
    if (this.#life.signal.aborted) return
    try {
      this.#realm.jobs.run(call)
    } catch (error) {
      this.#shared.error(describeError(error))
    }
  }

  /** Rejects the promise before its request is through, where the options ask for that. */
  #giveUpEarly({ gaveUp }: Settlement, over: AbortSignal): void {
    const { options, timeoutScale } = this.#shared
    const { promiseTimeout } = options
    if (gaveUp === undefined || promiseTimeout === Number.POSITIVE_INFINITY) return
    const timer = setTimeout(() => this.#settle(gaveUp), promiseTimeout * timeoutScale())
    over.addEventListener('abort', () => clearTimeout(timer))
  }
}
