import type { ProbeType } from './probe-type.ts'
import { canary } from './types/canary.ts'
import { cmpCheck } from './types/cmp-check.ts'
import { consentSignals } from './types/consent-signals.ts'
import { containerLag } from './types/container-lag.ts'
import { dataFreshness } from './types/data-freshness.ts'
import { ecommerceQuality, userDataQuality } from './types/data-quality.ts'
import { dataVolume } from './types/data-volume.ts'
import { errorBudget } from './types/error-budget.ts'
import { fieldContract } from './types/field-contract.ts'
import { ga4Counts } from './types/ga4-counts.ts'
import { httpHealth } from './types/http-health.ts'
import { imageVersion } from './types/image-version.ts'
import { metaQuality } from './types/meta-quality.ts'
import { push } from './types/push.ts'
import { reconciliation } from './types/reconciliation.ts'
import { duplicates, identifierQuality, valueQuality } from './types/signal-quality.ts'
import { tagFailureRate } from './types/tag-failure-rate.ts'
import { tagLatency } from './types/tag-latency.ts'
import { tagManagerVersion } from './types/tag-manager-version.ts'
import { tagMissing } from './types/tag-missing.ts'
import { tagServerInfra } from './types/tag-server-infra.ts'
import { vendorStatus } from './types/vendor-status.ts'
import { warehouseEvents } from './types/warehouse-events.ts'

/** Every type of probe, in the order in which the screens list them. */
export const PROBE_TYPES: readonly ProbeType[] = [
  httpHealth,
  tagServerInfra,
  imageVersion,
  canary,
  tagManagerVersion,
  warehouseEvents,
  ga4Counts,
  metaQuality,
  cmpCheck,
  dataVolume,
  dataFreshness,
  tagFailureRate,
  vendorStatus,
  tagLatency,
  tagMissing,
  userDataQuality,
  ecommerceQuality,
  consentSignals,
  duplicates,
  valueQuality,
  identifierQuality,
  fieldContract,
  reconciliation,
  containerLag,
  errorBudget,
  push,
]

export type Registry = ReadonlyMap<string, ProbeType>

/**
 * Returns the types by name.
 *
 * @throws Error when two have the same name
 */
export function registryOf(types: readonly ProbeType[]): Registry {
  const registry = new Map(types.map((type) => [type.name, type]))
  if (registry.size !== types.length) throw new Error('two types of probes have the same name')
  return registry
}
