import { sql } from 'kysely'
import { floorTo, HOUR, Yielder } from '../lib/index.ts'
import {
  type BatchOperation,
  type MinutePartTable,
  PackedSums,
  type SqlValue,
  type Store,
  StoreError,
} from '../store/index.ts'
import { GRAIN, NAME_COLUMNS, type RollupTable } from './columns.ts'
import { minuteParts, newPart, partsOf, SECTION_ORDER, SECTIONS } from './minute-parts.ts'
import { holdDirty } from './minute-retention.ts'

/** Text of a minute that is merged at once. A sender can fill more with names: what is over stays in parts. */
const MOST_CHARACTERS = 500_000
/** Text that is added up without yielding: some 2 ms. */
const CHARACTERS_PER_TURN = 200_000

/** A site's minute, epoch ms. */
export interface SiteMinute {
  siteNo: number
  minute: number
}

/**
 * Merges the parts of each of these minutes into one, in one transaction. Each fold adds a part, so that a site that sends all the time
 * has up to sixty a minute, and every reader of the minute adds them up. Only parts of dirty hours are merged: others are read by hardly
 * anyone.
 *
 * Each transaction holds the dirty buckets of its hours, in the order in which folds lock them. A roll-up holds the same while one statement
 * adds up parts and another clears or deletes them: on PostgreSQL that other one would pass over a part that was merged in between, and its
 * counts would stay where they were as well.
 *
 * Returns false when nothing was merged, because another node merges or rolls up one of the minutes at the same time. All sums stay the
 * same, so a report may come at any time.
 */
export async function mergeParts(store: Store, minutes: readonly SiteMinute[]): Promise<boolean> {
  const operations: BatchOperation[] = []
  for (const { siteNo, minute } of minutes.toSorted((a, b) => a.siteNo - b.siteNo || a.minute - b.minute)) {
    const parts = await partsToMerge(store, { siteNo, minute })
    const byContainer = [...Map.groupBy(parts, ({ container_id }) => container_id)].filter(([, of]) => of.length > 1)
    if (byContainer.length > 0) operations.push(holdDirty(store, GRAIN.hour, { siteNo, bucket: floorTo(minute, HOUR) }))
    for (const [containerId, ofContainer] of byContainer)
      operations.push(...(await mergeOf(store, { siteNo, minute, containerId }, ofContainer)))
  }
  if (operations.length === 0) return true
  try {
    await store.batch(operations, { isRepeatable: true })
    return true
  } catch (thrown) {
    if (thrown instanceof StoreError && thrown.kind === 'unexpected_changes') return false
    throw thrown
  }
}

/** Parts of a minute, up to `MOST_CHARACTERS` of them; none when its hour is not dirty. */
async function partsToMerge(store: Store, { siteNo, minute }: SiteMinute): Promise<MinutePartTable[]> {
  const texts = SECTION_ORDER.map((section) => sql`cast(${sql.ref(section)} as text) as ${sql.ref(section)}`)
  const lengths = SECTION_ORDER.map((section) => sql`coalesce(length(${sql.ref(section)}), 0)`)
  const { rows } = await sql<MinutePartTable>`
    select * from (
      select texts.*, sum(${sql.join(lengths, sql` + `)}) over (order by container_id, part) as characters from (
        select container_id, part, ${sql.join(texts)} from minute_parts p where ${partsOf(siteNo, minute, minute + 1)}
        and exists (
          select 1 from dirty_buckets
          where site_no = ${siteNo} and grain = ${GRAIN.hour} and bucket = ${floorTo(minute, HOUR)}
        )
      ) as texts
    ) as gathered where characters <= ${MOST_CHARACTERS}`.execute(store.read)
  return rows
}

async function mergeOf(
  { write }: Store,
  { siteNo, minute, containerId }: SiteMinute & { containerId: string },
  parts: readonly MinutePartTable[],
): Promise<BatchOperation[]> {
  const taken = write
    .deleteFrom('minute_parts')
    .where('site_no', '=', siteNo)
    .where('bucket', '=', minute)
    .where('container_id', '=', containerId)
    .where(
      'part',
      'in',
      parts.map(({ part }) => part),
    )
  const sections: (string | null)[] = []
  for (const section of SECTION_ORDER) sections.push(await sumOf(section, parts))
  const values: SqlValue[] = [siteNo, minute, containerId, newPart(), ...sections]
  return [
    { kind: 'statement', query: taken.compile(), expectChanges: parts.length },
    { kind: 'upsert', spec: minuteParts, values },
  ]
}

const NAMES = new Map(
  Object.entries(SECTIONS).map(([table, section]) => [section, NAME_COLUMNS[table as RollupTable].length]),
)

async function sumOf(
  section: (typeof SECTION_ORDER)[number],
  parts: readonly MinutePartTable[],
): Promise<string | null> {
  const sums = new PackedSums(NAMES.get(section) ?? 1)
  const yielder = new Yielder(CHARACTERS_PER_TURN)
  for (const { [section]: text } of parts) {
    if (text === null) continue
    sums.add(text)
    await yielder.spend(text.length)
  }
  return sums.size === 0 ? null : sums.toText()
}
