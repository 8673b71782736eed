import { batches } from './batches.ts'
import { generator } from './generator.ts'
import { manySites } from './many-sites.ts'
import { memory } from './memory.ts'
import { oneSite } from './one-site.ts'
import { reader } from './reader.ts'
import { refusals } from './refusals.ts'
import type { Scenario } from './scenario.ts'

/** Every scenario by the name that `--only` takes, in the order they run. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  generator,
  'one-site': oneSite,
  'sites-1000': manySites(1_000, 0.7),
  'sites-10000': manySites(10_000, 0.5),
  'sites-100000': manySites(100_000, 0.5),
  'batch-200': batches,
  reader,
  refusals,
  memory,
}
