import { answerCalls } from '../../../bench/lib/worker-calls.ts'
import type { LoadFigures } from './figures.ts'
import { type LoadTarget, type LoadTotals, OpenLoad, type Pace } from './open-load.ts'

/** What the parent asks of the generator's process. */
export type LoadCall =
  | { call: 'begin'; target: LoadTarget }
  | { call: 'pace'; pace: Pace }
  | { call: 'take' }
  | { call: 'end' }

export type LoadReply = LoadFigures | LoadTotals | null

let load: OpenLoad | undefined

answerCalls<LoadCall, LoadReply>(async (asked) => {
  if (asked.call === 'begin') {
    load = new OpenLoad(asked.target)
    return null
  }
  if (load === undefined) throw new Error('there is no load yet')
  if (asked.call === 'take') return load.take()
  if (asked.call === 'end') return await load.end()
  await load.pace(asked.pace)
  return null
})
