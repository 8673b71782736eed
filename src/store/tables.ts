export type * from './tables/accounts.ts'
export type * from './tables/alerts.ts'
export type * from './tables/incidents.ts'
export type * from './tables/management.ts'
export type * from './tables/probes.ts'
export type * from './tables/rollups.ts'
export type * from './tables/sharing.ts'
export type * from './tables.ts'

import type { Generated } from 'kysely'
import type {
  ApiTokenTable,
  IdentityRoleTable,
  SignInTable,
  UserIdentityTable,
  UserLinkTable,
  UserRecoveryCodeTable,
  UserRoleTable,
  UserTable,
  UserTwoStepTable,
} from './tables/accounts.ts'
import type {
  AlertEventTable,
  AlertFeedbackTable,
  AlertTable,
  ChannelTable,
  ClientChannelTable,
  DeliveryTable,
  DigestTable,
  MaintenanceTable,
  OnCallEscalationTable,
  OnCallOverrideTable,
  OnCallRotationTable,
  SilenceTable,
} from './tables/alerts.ts'
import type { IncidentEventTable, IncidentNoteTable, IncidentTable } from './tables/incidents.ts'
import type {
  AnnotationTable,
  AuditTable,
  ClientTable,
  CreateKeyTable,
  DigestReaderTable,
  QuotaMessageTable,
  RemovedProbeTable,
  SavedViewTable,
  SiteDayTable,
  SiteKeyTable,
  SiteKeyUseTable,
  SiteRemovalTable,
  SiteTable,
  SpecialDayTable,
  TagVendorTable,
} from './tables/management.ts'
import type { DeployMarkerTable, ProbeResultTable, ProbeTable, PushTable } from './tables/probes.ts'
import type {
  ClientUsageTable,
  ContainerClientTable,
  ContainerVersionTable,
  DailyNameTable,
  DirtyBucketTable,
  EventRollupTable,
  EventTagRollupTable,
  FieldRollupTable,
  MinuteFloorTable,
  MinutePartTable,
  ReferenceCountTable,
  SignalRollupTable,
  SiteContainerTable,
  TagNameTable,
  TagRollupTable,
  TagSignalRollupTable,
} from './tables/rollups.ts'
import type {
  AnnouncedIncidentTable,
  AnnouncedMaintenanceTable,
  StatusLinkTable,
  StatusLooksTable,
  StatusSubscriberTable,
} from './tables/sharing.ts'

/**
 * The tables, as both engines hold them. Times are epoch milliseconds, flags are 0 or 1, ids are UUID text, so that one query
 * text serves both engines. Every telemetry table starts its key with `site_no`, a site's small number, because a rollup table
 * repeats it millions of times. On PostgreSQL with Citus these tables are distributed by it.
 */
export interface Tables {
  clients: ClientTable
  sites: SiteTable
  site_keys: SiteKeyTable
  site_key_uses: SiteKeyUseTable
  audit_log: AuditTable
  create_keys: CreateKeyTable
  site_removals: SiteRemovalTable
  special_days: SpecialDayTable
  annotations: AnnotationTable
  tag_vendors: TagVendorTable
  site_days: SiteDayTable
  journal: JournalTable
  folds: FoldTable
  idempotency_keys: IdempotencyKeyTable
  event_rollups: EventRollupTable
  tag_rollups: TagRollupTable
  event_tag_rollups: EventTagRollupTable
  signal_rollups: SignalRollupTable
  tag_signal_rollups: TagSignalRollupTable
  field_rollups: FieldRollupTable
  minute_parts: MinutePartTable
  dirty_buckets: DirtyBucketTable
  minute_floors: MinuteFloorTable
  site_containers: SiteContainerTable
  container_versions: ContainerVersionTable
  container_clients: ContainerClientTable
  tag_names: TagNameTable
  daily_names: DailyNameTable
  client_usage: ClientUsageTable
  recent_payloads: RecentPayloadTable
  rejections: RejectionTable
  rejection_counts: RejectionCountTable
  canary_arrivals: CanaryArrivalTable
  reference_counts: ReferenceCountTable
  write_checks: WriteCheckTable
  clock_checks: ClockCheckTable
  outages: OutageTable
  listening: ListeningTable
  nodes: NodeTable
  leases: LeaseTable
  client_demand: ClientDemandTable
  probes: ProbeTable
  removed_probes: RemovedProbeTable
  pushes: PushTable
  probe_results: ProbeResultTable
  deploy_markers: DeployMarkerTable
  alerts: AlertTable
  alert_events: AlertEventTable
  alert_feedback: AlertFeedbackTable
  incidents: IncidentTable
  incident_events: IncidentEventTable
  incident_notes: IncidentNoteTable
  silences: SilenceTable
  maintenance: MaintenanceTable
  channels: ChannelTable
  client_channels: ClientChannelTable
  deliveries: DeliveryTable
  digests: DigestTable
  quota_messages: QuotaMessageTable
  status_links: StatusLinkTable
  status_looks: StatusLooksTable
  saved_views: SavedViewTable
  status_subscribers: StatusSubscriberTable
  announced_incidents: AnnouncedIncidentTable
  announced_maintenance: AnnouncedMaintenanceTable
  digest_readers: DigestReaderTable
  on_call_rotations: OnCallRotationTable
  on_call_overrides: OnCallOverrideTable
  on_call_escalations: OnCallEscalationTable
  sign_ins: SignInTable
  users: UserTable
  user_roles: UserRoleTable
  user_links: UserLinkTable
  user_identities: UserIdentityTable
  identity_roles: IdentityRoleTable
  user_two_steps: UserTwoStepTable
  user_recovery_codes: UserRecoveryCodeTable
  api_tokens: ApiTokenTable
}

/** The `site_no` of requests whose key no site has; sites' own start at 1. */
export const NO_SITE = 0

/** A process that runs on this database, or recently did. */
export interface NodeTable {
  id: string
  /** For people: host name and process id. */
  name: string
  role: string
  version: string
  started_at: number
  /** Its last heartbeat. A node that has not been seen for a while is dead, and any other may do its work. */
  seen_at: number
}

/** A piece of work for one node at a time. It stays with that node for as long as the node lives. */
export interface LeaseTable {
  name: string
  node_id: string
  claimed_at: number
}

/** What is known about the time; one row. Times are epoch ms. */
export interface ClockCheckTable {
  id: number
  /** The newest time seen. */
  checked_at: number
  /** Until then, things may be younger than they look; or null. */
  careful_until: number | null
  /** How much younger; null when that is unknown. */
  slack_ms: number | null
  /** What people are shown about it, or null. */
  doubt: string | null
}

/** A period in which no process accepted events. Times are epoch ms. */
export interface OutageTable {
  began_at: number
  ended_at: number
}

/** Until when some process accepted events; one row. */
export interface ListeningTable {
  id: number
  listened_until: number
}

/** How many requests a node receives from a rate-limited client: the limit is divided by it. */
export interface ClientDemandTable {
  client_id: string
  node_id: string
  measured_at: number
  /** Arrivals, including refused ones. */
  requests_per_second: number
}

/** Accepted counts that are durable but not yet in the rollups: one row per lane of a group commit. */
export interface JournalTable {
  /** The stream: the process that wrote the row and folds it while it lives, or what a fold spilled. */
  node_id: string
  /** Counted up by that process, one per commit to a lane; a failed commit leaves a gap. */
  seq: number
  /** By the database's clock where several processes share the database. */
  written_at: number
  /** An encoded `Delta`. */
  payload: string
}

/** The progress of a node's fold, which is cut into chunks. */
export interface FoldTable {
  node_id: string
  /** First row of the run that ends at `last_seq`; 0 when an older version began the fold, which did not record it. */
  first_seq: Generated<number>
  last_seq: number
  /** The highest `site_no` whose share of the rows is in the rollups, or spilled. */
  site_cursor: number
}

export interface IdempotencyKeyTable {
  site_no: number
  idempotency_key: string
  accepted_at: number
}

export interface RecentPayloadTable {
  site_no: number
  id: number
  accepted_at: number
  payload: string
}

export interface RejectionTable {
  site_no: number
  id: number
  rejected_at: number
  reason: string
  path: string
}

export interface RejectionCountTable {
  site_no: number
  /** Start of the UTC minute, epoch ms. */
  bucket: number
  reason: string
  total: number
}

/** A canary that reached ingest. No count includes it. */
export interface CanaryArrivalTable {
  site_no: number
  event_name: string
  /** When it was first accepted, epoch ms. */
  arrived_at: number
  /** 1: in a batch, which does not say which tags ran on it. */
  is_batched: number
  /** Names of the tags that ran on it, as a JSON array. */
  tags: string
}

/** One row, rewritten to find out whether the store accepts writes. */
export interface WriteCheckTable {
  id: number
  checked_at: number
}
