import { answerCalls } from '../../testkit/processes/worker-calls.ts'
import { readReports } from './report-reader.ts'

const calls = { read: readReports }
export type ReportCalls = typeof calls

/** The report reader's process: runs one plan after the other. */
answerCalls(calls)
