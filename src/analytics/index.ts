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
export { type DayDelivery, deliveryByDay } from './delivery-by-day.ts'
export { type DiagnosticsAnswer, diagnosticsRoutes } from './diagnostics.ts'
export { KeptSummaries } from './kept-summaries.ts'
export { type Marker, markers } from './markers.ts'
export { type Matrix, matrix } from './matrix.ts'
export { type Overview, overview, type WindowReport } from './overview.ts'
export { type OwnField, type OwnFields, ownFields } from './own-fields.ts'
export { type Recent, recent } from './recent.ts'
export { analyticsRoutes } from './routes.ts'
export { type Band, bandOf, ecommerceScore, type Score, type ScoreCounts, score, userDataScore } from './score.ts'
export { qualityCounts, SCORE_EVENT_COLUMNS, SCORE_EVENT_MEASURES } from './score-counts.ts'
export { IDENTIFIERS, VALIDITY } from './signals.ts'
export type { CriticalAlert } from './site-facts.ts'
export { REPORT_LIMITS, type ReportContext, readSnapshot, type Snapshot } from './snapshot.ts'
export {
  identitiesOf,
  type SiteFigures,
  type SiteSummary,
  siteFigures,
  sumsBySite,
  type TagFigures,
} from './summaries.ts'
export { addSums, isOneOf, type Stretch, type SumRow, type Sums, sumStretches, totals, zeroSums } from './sums.ts'
export { identityOf } from './tag-identity.ts'
export { latency, type TagDetail, tag } from './tag-report.ts'
export {
  type SetTagVendor,
  saidOf,
  type TagVendorRecord,
  tagVendorHooks,
  tagVendorRoutes,
  type VendorRecord,
} from './tag-vendors.ts'
export { type Timeseries, timeseries } from './timeseries/index.ts'
export type { Metric, TimeseriesQuery } from './timeseries/plan.ts'
export { isOneService, vendorName, vendorOf } from './vendors.ts'
export type { RangeQuery } from './window.ts'
