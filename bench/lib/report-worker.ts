import { type ReportPlan, type ReportResult, readReports } from './report-reader.ts'
import { answerCalls } from './worker-calls.ts'

/** The report reader's process: runs one plan after the other. */
answerCalls<ReportPlan, ReportResult>(readReports)
