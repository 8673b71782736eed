import { foundation } from './0001-foundation.ts'
import { nodes } from './0002-nodes.ts'
import { probes } from './0003-probes.ts'
import { alerts } from './0004-alerts.ts'
import { statusLinks } from './0005-status-links.ts'
import { judged } from './0006-judged.ts'
import { signIns } from './0007-sign-ins.ts'
import { alertSubjects } from './0008-alert-subjects.ts'
import { noStoredWebhook } from './0009-no-stored-webhook.ts'
import { lostRuns } from './0010-lost-runs.ts'
import { foldsOfRuns } from './0011-folds-of-runs.ts'
import { clockChecks } from './0012-clock-checks.ts'
import { outages } from './0013-outages.ts'
import { quotaMessages } from './0014-quota-messages.ts'
import { badEvents } from './0015-bad-events.ts'
import { alertFeedback } from './0016-alert-feedback.ts'
import { specialDays } from './0017-special-days.ts'
import { incidents } from './0018-incidents.ts'
import { incidentImpact } from './0019-incident-impact.ts'
import { clientChannels } from './0020-client-channels.ts'
import { quietHours } from './0021-quiet-hours.ts'
import { consentSignals } from './0022-consent-signals.ts'
import { validitySignals } from './0023-validity-signals.ts'
import { containerVersions } from './0024-container-versions.ts'
import { annotations } from './0025-annotations.ts'
import { deliveryReceipts } from './0026-delivery-receipts.ts'
import { incidentSilences } from './0027-incident-silences.ts'
import { tagVendors } from './0028-tag-vendors.ts'
import { siteDays } from './0029-site-days.ts'
import { vendorResponses } from './0030-vendor-responses.ts'
import { canaryArrivals } from './0031-canary-arrivals.ts'
import { orderValues } from './0032-order-values.ts'
import { siteTarget } from './0033-site-target.ts'
import { statusLooks } from './0034-status-looks.ts'
import { savedViews } from './0035-saved-views.ts'
import { statusSubscribers } from './0036-status-subscribers.ts'
import { referenceCounts } from './0037-reference-counts.ts'
import { weights } from './0038-weights.ts'
import { fieldRollups } from './0039-field-rollups.ts'
import { pushes } from './0040-pushes.ts'
import { accounts } from './0041-accounts.ts'
import { apiTokens } from './0042-api-tokens.ts'
import { auditedClients } from './0043-audited-clients.ts'
import { siteKeys } from './0044-site-keys.ts'
import { onCall } from './0045-on-call.ts'
import { containerClients } from './0047-container-clients.ts'
import { identities } from './0048-identities.ts'
import { twoSteps } from './0049-two-steps.ts'
import { containerWrites } from './0052-container-writes.ts'
import { channelWaits } from './0053-channel-waits.ts'
import { fiveMinuteRows } from './0054-five-minute-rows.ts'
import { lastEnded } from './0055-last-ended.ts'
import { auditByActor } from './0056-audit-by-actor.ts'
import { removedProbes } from './0057-removed-probes.ts'
import { whatLasts } from './0058-what-lasts.ts'
import { createKeys } from './0059-create-keys.ts'
import { reopened } from './0060-reopened.ts'
import { knownStates } from './0061-known-states.ts'
import { thinnedResults } from './0062-thinned-results.ts'
import { digestReaders } from './0063-digest-readers.ts'
import { announcedMaintenance } from './0064-announced-maintenance.ts'
import { knownRecipients } from './0065-known-recipients.ts'
import { minuteParts } from './0066-minute-parts.ts'
import { plainJournal } from './0067-plain-journal.ts'
import { announcedIncidents } from './0068-announced-incidents.ts'
import type { Migration } from './types.ts'

/** Every step, oldest first. Add at the end; never change a released one. */
export const migrations: readonly Migration[] = [
  foundation,
  nodes,
  probes,
  alerts,
  statusLinks,
  judged,
  signIns,
  alertSubjects,
  noStoredWebhook,
  lostRuns,
  foldsOfRuns,
  clockChecks,
  outages,
  quotaMessages,
  badEvents,
  alertFeedback,
  specialDays,
  incidents,
  incidentImpact,
  clientChannels,
  quietHours,
  consentSignals,
  validitySignals,
  containerVersions,
  annotations,
  deliveryReceipts,
  incidentSilences,
  tagVendors,
  siteDays,
  vendorResponses,
  canaryArrivals,
  orderValues,
  siteTarget,
  statusLooks,
  savedViews,
  statusSubscribers,
  referenceCounts,
  weights,
  fieldRollups,
  pushes,
  accounts,
  apiTokens,
  auditedClients,
  siteKeys,
  onCall,
  containerClients,
  identities,
  twoSteps,
  containerWrites,
  channelWaits,
  fiveMinuteRows,
  lastEnded,
  auditByActor,
  removedProbes,
  whatLasts,
  createKeys,
  reopened,
  knownStates,
  thinnedResults,
  digestReaders,
  announcedMaintenance,
  knownRecipients,
  minuteParts,
  plainJournal,
  announcedIncidents,
]

export type { ColumnTypes, Migration } from './types.ts'
