import { type LoadPlan, type LoadResult, runLoad } from './http-load.ts'
import { answerCalls } from './worker-calls.ts'

/** The load generator's process: runs one plan after the other. */
answerCalls<LoadPlan, LoadResult>(runLoad)
