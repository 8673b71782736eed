import { join } from 'node:path'
import type { RunningProcess } from '../../../bench/lib/processes.ts'
import type { Session } from '../../../bench/lib/session.ts'
import { callWorker } from '../../../bench/lib/worker-calls.ts'
import type { LoadFigures } from './figures.ts'
import type { LoadTarget, LoadTotals, Pace } from './open-load.ts'
import type { LoadCall, LoadReply } from './worker.ts'

/** The load generator, in a process of its own on the clients' core. */
export class Generator {
  readonly #worker: RunningProcess

  constructor(session: Session) {
    this.#worker = session.startWorker('load', join(import.meta.dirname, 'worker.ts'))
  }

  async begin(target: LoadTarget): Promise<void> {
    await this.#call({ call: 'begin', target })
  }

  async pace(pace: Pace): Promise<void> {
    await this.#call({ call: 'pace', pace })
  }

  /** What happened since the last taking. */
  async take(): Promise<LoadFigures> {
    const reply = await this.#call({ call: 'take' })
    if (reply === null || !('statuses' in reply)) throw new Error('the generator gave no figures')
    return reply
  }

  /** Ends the load and waits for its last answers. */
  async end(): Promise<LoadTotals> {
    const reply = await this.#call({ call: 'end' })
    if (reply === null || !('acceptedEvents' in reply)) throw new Error('the generator gave no totals')
    return reply
  }

  async #call(call: LoadCall): Promise<LoadReply> {
    return await callWorker<LoadCall, LoadReply>(this.#worker, call)
  }
}
