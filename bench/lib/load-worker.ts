import { answerCalls } from '../../testkit/processes/worker-calls.ts'
import { runLoad } from './http-load.ts'

const calls = { run: runLoad }
export type LoadCalls = typeof calls

/** The load generator's process: runs one plan after the other. */
answerCalls(calls)
