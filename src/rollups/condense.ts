import { addAll, cellAt, eventIn, newSite, type SiteDelta, tagIn } from './delta.ts'
import { dayOf, type NameBooks } from './names.ts'
import type { FoldRows } from './rows.ts'
import { Yielder } from './yielder.ts'

/** Names and ids visited without yielding: a millisecond or two. */
const UNITS_PER_TURN = 2_000

/**
 * What the caps of a day leave of a site's counts: names past them become one, `(other)`, and no ids are left, because those
 * that may be linked are written to `rows` here, with the new names. A sender of nothing but new names and containers comes to
 * as few rows as the busiest honest one; only after that it shows whether there are too many for one transaction.
 *
 * Measured with 37,500 tags in new containers, twice a second: without condensing they were set aside in 19 pieces, and written
 * to the rollups by 19 transactions of a thousand rows each; with it by one transaction.
 *
 * The site itself stays as it is: a failed fold is tried again with the same sum.
 */
export async function condense(siteNo: number, site: SiteDelta, books: NameBooks, rows: FoldRows): Promise<SiteDelta> {
  const condensed = newSite(site.usage)
  const yielder = new Yielder()
  let units = 0
  const spend = async () => {
    if (++units % UNITS_PER_TURN === 0) await yielder.yield()
  }
  for (const cell of site.cells) {
    const book = books.book(siteNo, dayOf(cell.minute))
    const containerId = rows.bookName(siteNo, book, 'container', cell.containerId)
    const target = cellAt(condensed, cell.minute, containerId)
    target.lastSeenAt = Math.max(target.lastSeenAt, cell.lastSeenAt)
    for (const [name, event] of cell.events) {
      const into = eventIn(target, rows.bookName(siteNo, book, 'event', name))
      addAll(into.counts, event.counts)
      await spend()
      for (const [key, tag] of event.tags) {
        const booked = rows.bookName(siteNo, book, 'tag', key)
        addAll(tagIn(into, booked).counts, tag.counts)
        await spend()
        for (const id of tag.ids) {
          rows.linkId(siteNo, book, { containerId, id, name: booked, lastSeenAt: cell.lastSeenAt })
          await spend()
        }
      }
    }
  }
  return condensed
}
