import type { VendorSite } from '../../api/tags.ts'
import { whole } from '../../lib/words.ts'
import type { Column } from '../../ui/table/column.ts'
import { msWords, rateWords } from './words.ts'

/** Columns that the list of vendors and the list of a vendor's sites share. */
export const RUNS: Column<Pick<VendorSite, 'runs'>> = {
  key: 'runs',
  title: 'Executions',
  isNumber: true,
  sortBy: ({ runs }) => runs,
  render: ({ runs }) => whole(runs),
}
export const FAILURE_RATE: Column<Pick<VendorSite, 'failure_rate'>> = {
  key: 'rate',
  title: 'Failure rate',
  isNumber: true,
  sortBy: ({ failure_rate }) => failure_rate,
  render: ({ failure_rate }) => rateWords(failure_rate),
}
export const P95: Column<Pick<VendorSite, 'p95_ms'>> = {
  key: 'p95',
  title: 'p95',
  isNumber: true,
  sortBy: ({ p95_ms }) => p95_ms,
  render: ({ p95_ms }) => msWords(p95_ms),
}
