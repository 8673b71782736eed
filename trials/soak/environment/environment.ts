import { join } from 'node:path'
import type { RunningProcess } from '../../../bench/lib/processes.ts'
import type { Session } from '../../../bench/lib/session.ts'
import { callWorker } from '../../../bench/lib/worker-calls.ts'
import type { ReaderPlan } from './readers.ts'
import type { EnvironmentCall, EnvironmentFigures, EnvironmentReply } from './worker.ts'

/** All that surrounds the service but the load, in a process of its own on the clients' core. */
export class SoakEnvironment {
  readonly #worker: RunningProcess

  constructor(session: Session) {
    this.#worker = session.startWorker('environment', join(import.meta.dirname, 'worker.ts'))
  }

  /** Opens the targets of probes and the receiver of messages; their address. */
  async listen(): Promise<string> {
    const reply = await this.#call({ call: 'listen' })
    if (reply === null || !('port' in reply)) throw new Error('the neighbours did not say where they listen')
    return `http://127.0.0.1:${reply.port}`
  }

  /** Begins to read reports and the event stream. */
  async read(plan: ReaderPlan): Promise<void> {
    await this.#call({ call: 'read', plan })
  }

  /** Breaks the targets of one group and heals all others. */
  async break(group: number | null): Promise<void> {
    await this.#call({ call: 'break', group })
  }

  /** What happened since the last taking. */
  async take(): Promise<EnvironmentFigures> {
    const reply = await this.#call({ call: 'take' })
    if (reply === null || !('messages' in reply)) throw new Error('the environment gave no figures')
    return reply
  }

  /** Stops reading. */
  async end(): Promise<void> {
    await this.#call({ call: 'end' })
  }

  async #call(call: EnvironmentCall): Promise<EnvironmentReply> {
    return await callWorker<EnvironmentCall, EnvironmentReply>(this.#worker, call)
  }
}
