/** Google's APIs as probes ask them. The way into `google/`: it decides alone how its parts work together. */
export { areNames } from './google/count-events.ts'
export { GoogleFailure } from './google/failure.ts'
export { serviceAccountOf } from './google/service-account.ts'
export { type LiveVersion, liveVersion } from './google/tag-manager.ts'
export type { Caller } from './google/waiting.ts'
export { openWarehouse, type TableFacts, type Warehouse } from './google/warehouse.ts'
