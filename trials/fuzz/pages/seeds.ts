import { glob } from 'node:fs/promises'
import { CONSENT_PROVIDERS } from '../../../src/probes/index.ts'
import { patternsIn, unitsOf } from '../../../testkit/patterns.ts'
import { REPOSITORY } from '../../../testkit/repository.ts'

/** Texts that the judging of pages looks for, or begins to take for what it looks for. */
export interface Seeds {
  /** Cut from texts that the patterns in the code of the probes take: each of them has several. */
  units: readonly string[]
  /** How many patterns these are. */
  patterns: number
  /** Hosts, identifiers, ids and classes of the providers. */
  signs: readonly string[]
}

/** Reads them from the code itself, so that a pattern which is added is tried without a word here. */
export async function readSeeds(): Promise<Seeds> {
  const units = new Set<string>()
  let patterns = 0
  for (const folder of ['src/probes', 'src/outbound']) {
    for await (const file of glob(`${folder}/**/*.ts`, { cwd: REPOSITORY })) {
      for (const { pattern } of await patternsIn(REPOSITORY, file)) {
        patterns++
        for (const unit of unitsOf(pattern)) units.add(unit)
      }
    }
  }
  const signs = CONSENT_PROVIDERS.flatMap(({ urls, setup = [], elements = [] }) => [
    ...urls.flatMap(({ host }) => (host === undefined ? [] : [`https://${host.replace('*', 'a')}/`])),
    ...setup,
    ...elements,
  ])
  return { units: [...units], patterns, signs }
}
