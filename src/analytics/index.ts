export {
  type FieldsAnswer,
  type MarkersAnswer,
  type MatrixAnswer,
  type OverviewAnswer,
  type RecentAnswer,
  ScoreCap,
  type TagAnswer,
  type TimeseriesAnswer,
} from './answers.ts'
export { deliveryByDay } from './delivery-by-day.ts'
export { type DiagnosticsAnswer, diagnosticsRoutes } from './diagnostics.ts'
export { KeptSummaries } from './kept-summaries.ts'
export { markers } from './markers.ts'
export { matrix } from './matrix.ts'
export { overview, type WindowReport } from './overview.ts'
export { recent } from './recent.ts'
export { analyticsRoutes } from './routes.ts'
export { ecommerceScore, userDataScore } from './score.ts'
export { bearsTransactionId } from './score-counts.ts'
export type { CriticalAlert } from './site-facts.ts'
export { REPORT_LIMITS, type ReportContext, readSnapshot, type Snapshot } from './snapshot.ts'
export { type Stretch, sumEachMinute, sumStretches } from './stretches.ts'
export {
  identitiesOf,
  type SiteFigures,
  type SiteSummary,
  siteFigures,
  sumsBySite,
  type TagFigures,
} from './summaries.ts'
export { addSums, isOneOf, type SumRow, type Sums, totals, zeroSums } from './sums.ts'
export { identityOf } from './tag-identity.ts'
export { latency, tag } from './tag-report.ts'
export {
  type SetTagVendor,
  saidOf,
  type TagVendorRecord,
  tagVendorHooks,
  tagVendorRoutes,
  type VendorRecord,
} from './tag-vendors.ts'
export { type Timeseries, timeseries } from './timeseries/index.ts'
export type { TimeseriesQuery } from './timeseries/plan.ts'
export { isOneService, vendorName, vendorOf } from './vendors.ts'
