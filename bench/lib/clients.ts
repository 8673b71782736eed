import { join } from 'node:path'
import type { Session } from '../../testkit/processes/session.ts'
import type { LoadPlan, LoadResult } from './http-load.ts'
import type { LoadCalls } from './load-worker.ts'
import type { ReportPlan, ReportResult } from './report-reader.ts'
import type { ReportCalls } from './report-worker.ts'

const LOAD = join(import.meta.dirname, 'load-worker.ts')
const REPORTS = join(import.meta.dirname, 'report-worker.ts')

/** Runs a load on the client's core. */
export const load = (session: Session, plan: LoadPlan): Promise<LoadResult> =>
  session.keptWorker<LoadCalls>('load', LOAD).run(plan)

/** Reads reports from the client's core. */
export const readReports = (session: Session, plan: ReportPlan): Promise<ReportResult> =>
  session.keptWorker<ReportCalls>('reports', REPORTS).read(plan)
