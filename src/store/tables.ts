import type {
  AlertEventTable,
  AlertTable,
  ChannelTable,
  DeliveryTable,
  DigestTable,
  MaintenanceTable,
  SilenceTable,
} from './tables/alerts.ts'
import type {
  FoldTable,
  IdempotencyKeyTable,
  JournalTable,
  RecentPayloadTable,
  RejectionCountTable,
  RejectionTable,
  WriteCheckTable,
} from './tables/ingest.ts'
import type {
  AuditTable,
  ClientTable,
  QuotaMessageTable,
  SignInTable,
  SiteRemovalTable,
  SiteTable,
  StatusLinkTable,
} from './tables/management.ts'
import type {
  ClientDemandTable,
  ClockCheckTable,
  LeaseTable,
  ListeningTable,
  NodeTable,
  OutageTable,
} from './tables/nodes.ts'
import type { DeployMarkerTable, ProbeResultTable, ProbeTable } from './tables/probes.ts'
import type {
  ClientUsageTable,
  DailyNameTable,
  EventRollupTable,
  EventTagRollupTable,
  MinuteFloorTable,
  RollupMarkTable,
  SiteContainerTable,
  TagNameTable,
  TagRollupTable,
} from './tables/rollups.ts'

export type * from './tables/alerts.ts'
export type * from './tables/ingest.ts'
export type * from './tables/management.ts'
export type * from './tables/nodes.ts'
export type * from './tables/probes.ts'
export type * from './tables/rollups.ts'

/**
 * The tables as both engines hold them. Times are epoch milliseconds, flags are 0 or 1, ids are UUID text, so that one
 * query text serves both engines. Every telemetry table starts its key with `site_no`, a site's small number: a row of
 * the rollups repeats it millions of times, and on PostgreSQL with Citus it is what the tables are distributed by.
 */
export interface Tables {
  clients: ClientTable
  sites: SiteTable
  audit_log: AuditTable
  site_removals: SiteRemovalTable
  journal: JournalTable
  folds: FoldTable
  idempotency_keys: IdempotencyKeyTable
  event_rollups: EventRollupTable
  tag_rollups: TagRollupTable
  event_tag_rollups: EventTagRollupTable
  rollup_marks: RollupMarkTable
  minute_floors: MinuteFloorTable
  site_containers: SiteContainerTable
  tag_names: TagNameTable
  daily_names: DailyNameTable
  client_usage: ClientUsageTable
  recent_payloads: RecentPayloadTable
  rejections: RejectionTable
  rejection_counts: RejectionCountTable
  write_checks: WriteCheckTable
  clock_checks: ClockCheckTable
  outages: OutageTable
  listening: ListeningTable
  nodes: NodeTable
  leases: LeaseTable
  client_demand: ClientDemandTable
  probes: ProbeTable
  probe_results: ProbeResultTable
  deploy_markers: DeployMarkerTable
  alerts: AlertTable
  alert_events: AlertEventTable
  silences: SilenceTable
  maintenance: MaintenanceTable
  channels: ChannelTable
  deliveries: DeliveryTable
  digests: DigestTable
  quota_messages: QuotaMessageTable
  status_links: StatusLinkTable
  sign_ins: SignInTable
}

/** Stands for the `site_no` of requests whose key no site has; those of sites begin at 1. */
export const NO_SITE = 0
