import { randomAgency } from './causes.ts'
import { type Figures, measure, type Symptom } from './measure.ts'
import { follow } from './pipeline.ts'
import { runsOfAgency } from './runs-of-agency.ts'
import { withStore, worldOf } from './world-store.ts'

/** Lets an agency's sites run for three weeks, and says what the program made of it. */
export async function measureAgency(
  seed: number,
  count: number,
  folder: string | null,
): Promise<{ figures: Figures; symptoms: readonly Symptom[] }> {
  const agency = randomAgency(seed, count)
  const dataRuns = await runsOfAgency(seed, count, folder)
  return withStore(async (store) => {
    const world = await worldOf(store, agency, dataRuns)
    const outages = await follow(world)
    return measure(store, agency, world.places, outages)
  })
}
