import { Yielder } from '../lib/index.ts'
import type { BatchOperation, Store } from '../store/index.ts'
import {
  absorbEventCounts,
  absorbTag,
  absorbTagCounts,
  cellAt,
  Delta,
  eventIn,
  fieldIn,
  fieldsOf,
  idCountOf,
  idsOf,
  newSite,
  type SiteDelta,
} from './delta.ts'
import { dayOf, type NameBooks } from './names.ts'
import { appendDelta, type Log, spillStream } from './row.ts'
import type { FoldRows } from './rows.ts'
import { absorbSeen } from './seen.ts'

/** Units of one site in one fold from which it is spilled: ten milliseconds of work. A busy site has some hundred. */
export const HEAVY_SITE = 4_000
/** Units per piece that is spilled: two or three rows each, in one transaction. */
const UNITS_PER_PIECE = 2_000

/** The counts to spill, and their stream. */
interface Spill {
  /** The fold that spills them. */
  nodeId: string
  lastSeq: number
  writtenAt: number
  siteNo: number
  site: SiteDelta
}

/**
 * Writes a site's counts back to the journal in small pieces, as a stream of its own: nothing is added to it later, and it is
 * folded like a dead node's. Its name cannot occur twice, as a node's rows up to `lastSeq` are folded only once. Usage is left
 * out: it goes into the rollups with the fold itself, because quotas rely on it.
 */
export async function spill(
  store: Store,
  { nodeId, lastSeq, writtenAt, siteNo, site }: Spill,
): Promise<BatchOperation[]> {
  const stream = spillStream(nodeId, lastSeq, siteNo)
  const operations: BatchOperation[] = []
  const yielder = new Yielder()
  for (const payload of piecesOf(siteNo, site)) {
    const row = { node_id: stream, seq: operations.length + 1, written_at: writtenAt, payload }
    operations.push({ kind: 'statement', query: store.write.insertInto('journal').values(row).compile() })
    await yielder.yield()
  }
  return operations
}

function* piecesOf(siteNo: number, site: SiteDelta): Generator<string> {
  let piece = new Delta()
  let units = 0
  const cut = () => {
    const log: Log = []
    appendDelta(log, piece)
    piece = new Delta()
    units = 0
    return JSON.stringify(log)
  }
  for (const cell of site.cells) {
    for (const [name, event] of cell.events) {
      const target = () => {
        const into = cellAt(piece.site(siteNo), cell.minute, cell.containerId)
        into.lastSeenAt = cell.lastSeenAt
        into.versions = cell.versions
        into.clients = cell.clients
        return eventIn(into, name)
      }
      absorbEventCounts(target(), event)
      units++
      for (const [field, counts] of fieldsOf(event)) {
        fieldIn(target(), field).addAll(counts)
        if (++units >= UNITS_PER_PIECE) yield cut()
      }
      for (const [key, tag] of event.tags) {
        absorbTag(target(), key, tag)
        units += 1 + idCountOf(tag)
        if (units >= UNITS_PER_PIECE) yield cut()
      }
      if (units >= UNITS_PER_PIECE) yield cut()
    }
  }
  if (units > 0) yield cut()
}

/** Names and ids visited without yielding: a millisecond or two. */
const UNITS_PER_TURN = 2_000

/**
 * What the caps of a day leave of a site's counts: names past them become one, `(other)`, and no ids are left, because those
 * that may be linked are written to `rows` here, with the new names. A sender of nothing but new names and containers comes to
 * as few rows as the busiest honest one; only after that it shows whether there are too many for one transaction.
 *
 * Measured with 37,500 tags in new containers, twice a second: without condensing they were spilled in 19 pieces, and written
 * to the rollups by 19 transactions of a thousand rows each; with it by one transaction.
 *
 * The site itself stays as it is: a failed fold is tried again with the same sum.
 */
export async function condense(siteNo: number, site: SiteDelta, books: NameBooks, rows: FoldRows): Promise<SiteDelta> {
  const condensed = newSite(site.usage)
  const yielder = new Yielder(UNITS_PER_TURN)
  for (const cell of site.cells) {
    const book = books.book(siteNo, dayOf(cell.minute))
    const containerId = rows.bookName(siteNo, book, 'container', cell.containerId)
    const target = cellAt(condensed, cell.minute, containerId)
    target.lastSeenAt = Math.max(target.lastSeenAt, cell.lastSeenAt)
    absorbSeen(target, cell)
    for (const [name, event] of cell.events) {
      const bookedName = rows.bookName(siteNo, book, 'event', name)
      const into = eventIn(target, bookedName)
      absorbEventCounts(into, event)
      await yielder.spend(1)
      for (const [field, counts] of fieldsOf(event)) {
        fieldIn(into, rows.bookField(siteNo, book, bookedName, field)).addAll(counts)
        await yielder.spend(1)
      }
      for (const [key, tag] of event.tags) {
        const booked = rows.bookName(siteNo, book, 'tag', key)
        absorbTagCounts(into, booked, tag)
        await yielder.spend(1)
        for (const id of idsOf(tag)) {
          rows.linkId(siteNo, book, { containerId, id, name: booked, lastSeenAt: cell.lastSeenAt })
          await yielder.spend(1)
        }
      }
    }
  }
  return condensed
}
