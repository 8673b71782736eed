import { OutboundError } from '../../lib/index.ts'
import { isNetworkFailure } from '../probe-type.ts'
import { GoogleFailure } from './failure.ts'

/** A request that was not answered, as a sentence about whom it was sent to. What is no failure of a request stays as it is. */
export function unreachable(thrown: unknown, who: string): unknown {
  if (!(thrown instanceof OutboundError)) return thrown
  const why = thrown.kind === 'aborted' ? 'the time of the check was over' : thrown.message
  return new GoogleFailure('unreachable', `${who} did not answer: ${why}`, {
    isNetworkFailure: isNetworkFailure(thrown),
  })
}
