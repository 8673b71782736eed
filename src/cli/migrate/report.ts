import type { Tally } from '../../store/index.ts'

const WHOLE = new Intl.NumberFormat('en-US')

export const amount = (count: number): string => WHOLE.format(count)

/** A line for each table: its rows, and how many columns of numbers add up to the same on both sides. */
export function tallyLines(tallies: readonly Tally[]): string[] {
  const rows = [
    ['table', 'rows', 'sums compared'],
    ...tallies.map(({ table, rows: count, sums }) => [table, amount(count), String(Object.keys(sums).length)]),
  ]
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const widths = [width(0), width(1), width(2)] as const
  return rows.map(
    ([table = '', count = '', sums = '']) =>
      `${table.padEnd(widths[0])}  ${count.padStart(widths[1])}  ${sums.padStart(widths[2])}`,
  )
}
