/** Google's APIs as probes ask them. The way into `google/`: it decides alone how its parts work together. */

export type { Caller } from './google/access-tokens.ts'
export { GoogleFailure } from './google/failure.ts'
export { serviceAccountOf } from './google/service-account.ts'
export { type LiveVersion, liveVersion } from './google/tag-manager.ts'
export { areNames, openWarehouse, type TableFacts, type Warehouse } from './google/warehouse.ts'
