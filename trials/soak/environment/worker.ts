import { answerCalls } from '../../../testkit/processes/worker-calls.ts'
import { type NeighbourFigures, Neighbours } from './neighbours.ts'
import { type ReaderFigures, type ReaderPlan, Readers } from './readers.ts'

export type EnvironmentFigures = NeighbourFigures & ReaderFigures

const neighbours = new Neighbours()
let readers: Readers | undefined

/** What the parent asks of the process of all that surrounds the service but the load. */
const calls = {
  /** Opens the targets of probes and the receiver of messages; their address. */
  listen: async (): Promise<string> => `http://127.0.0.1:${await neighbours.listen()}`,
  /** Begins to read reports and the event stream. */
  read(plan: ReaderPlan): void {
    readers = new Readers(plan)
  },
  /** Breaks the targets of one group and heals all others. */
  break: (group: number | null): void => neighbours.break(group),
  /** What happened since the last taking. */
  take(): EnvironmentFigures {
    if (readers === undefined) throw new Error('nothing is read yet')
    return { ...neighbours.take(), ...readers.take() }
  },
  /** Stops reading. */
  end: async (): Promise<void> => readers?.end(),
}
export type EnvironmentCalls = typeof calls

answerCalls(calls)
