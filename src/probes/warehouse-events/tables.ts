import { localTime, type TimeRange } from '../../detection/index.ts'
import { specialDaysOf } from '../../management/index.ts'
import { markedDays, publicHolidays } from '../counts/holidays.ts'
import type { TableFacts, Warehouse } from '../google/warehouse.ts'
import type { ProbeContext } from '../probe-type.ts'
import type { DayTable } from './parts.ts'
import { type LocalDay, localDay, type Memory, type Settings } from './settings.ts'

/** One run's view of the dataset. */
export interface Run {
  context: ProbeContext<Settings>
  warehouse: Warehouse
  timezone: string
  memory: Memory
}

export interface ReadDay extends DayTable {
  facts: TableFacts | null
}

export const intradayName = ({ suffix }: LocalDay): string => `events_intraday_${suffix}`

/** Tables are requested by full name: `events_*` would match intraday tables, too, and count a day twice. */
const dailyName = ({ context }: Run, day: LocalDay): string =>
  context.config.daily_export ? `events_${day.suffix}` : intradayName(day)

export async function readDay(run: Run, day: LocalDay): Promise<ReadDay> {
  const table = dailyName(run, day)
  const facts = await run.warehouse.table(table)
  return { day, table, facts, rows: facts?.rows ?? null }
}

const WEEKS = 4

/**
 * The rows of the same weekday in the weeks before; null for a public holiday or a marked day, which is like no other day and no
 * measure for others. Tables no longer change after three days, so each week is requested only once.
 *
 * @param known rows by day; new ones are added
 */
export async function usualRows(run: Run, day: LocalDay, known: Record<string, number>): Promise<number[] | null> {
  const weeks = Array.from({ length: WEEKS }, (_, week) => localDay(run.timezone, day.start, 7 * (week + 1)))
  const special = await specialDays(run, { from: weeks.at(-1)?.start ?? day.start, to: day.end })
  const isSpecial = ({ start, end }: LocalDay) => special.some(({ from, to }) => from < end && to > start)
  if (isSpecial(day)) return null
  const compared = weeks.filter((week) => !isSpecial(week))
  const unknown = compared.filter(({ suffix }) => known[suffix] === undefined)
  for (const { day: week, rows } of await Promise.all(unknown.map((week) => readDay(run, week)))) {
    if (rows !== null) known[week.suffix] = rows
  }
  return compared.flatMap(({ suffix }) => known[suffix] ?? [])
}

async function specialDays({ context: { store, site }, timezone }: Run, range: TimeRange): Promise<TimeRange[]> {
  const clock = localTime(timezone)
  const marked = markedDays(await specialDaysOf(store.reports, site.id), clock)
  return [...(await publicHolidays(timezone, clock, range)), ...marked]
}

/** How far back to look for the newest table when the last two days have none. */
const LOOK_BACK_DAYS = 7

export async function newestTable(run: Run): Promise<string | null> {
  for (let days = 3; days <= LOOK_BACK_DAYS; days++) {
    const { table, facts } = await readDay(run, localDay(run.timezone, run.context.now, days))
    if (facts !== null) return table
  }
  return null
}
