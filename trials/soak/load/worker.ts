import { answerCalls } from '../../../testkit/processes/worker-calls.ts'
import { type LoadTarget, OpenLoad, type Pace } from './open-load.ts'

let load: OpenLoad | undefined

function begun(): OpenLoad {
  if (load === undefined) throw new Error('there is no load yet')
  return load
}

/** What the parent asks of the generator's process. */
const calls = {
  begin(target: LoadTarget): void {
    load = new OpenLoad(target)
  },
  pace: (pace: Pace) => begun().pace(pace),
  /** What happened since the last taking. */
  take: () => begun().take(),
  /** Ends the load and waits for its last answers. */
  end: () => begun().end(),
}
export type LoadCalls = typeof calls

answerCalls(calls)
