import { answerCalls } from '../../../bench/lib/worker-calls.ts'
import { type NeighbourFigures, Neighbours } from './neighbours.ts'
import { type ReaderFigures, type ReaderPlan, Readers } from './readers.ts'

/** What the parent asks of the process of all that surrounds the service but the load. */
export type EnvironmentCall =
  | { call: 'listen' }
  | { call: 'read'; plan: ReaderPlan }
  | { call: 'break'; group: number | null }
  | { call: 'take' }
  | { call: 'end' }

export type EnvironmentFigures = NeighbourFigures & ReaderFigures
export type EnvironmentReply = EnvironmentFigures | { port: number } | null

const neighbours = new Neighbours()
let readers: Readers | undefined

answerCalls<EnvironmentCall, EnvironmentReply>(async (asked) => {
  if (asked.call === 'listen') return { port: await neighbours.listen() }
  if (asked.call === 'read') readers = new Readers(asked.plan)
  else if (asked.call === 'break') neighbours.break(asked.group)
  else if (asked.call === 'end') await readers?.end()
  else if (readers !== undefined) return { ...neighbours.take(), ...readers.take() }
  return null
})
