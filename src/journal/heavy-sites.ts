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

/** Units from which a site is spilled: 10 ms of work in one fold. A busy site has a few hundred. */
export const HEAVY_SITE = 4_000
/** Units in a spilled piece, which is folded in one transaction: two or three rows each. */
const UNITS_PER_PIECE = 2_000

/** The counts to spill, and the fold that spills them. */
interface Spill {
  /** The stream of that fold. */
  nodeId: string
  lastSeq: number
  writtenAt: number
  siteNo: number
  site: SiteDelta
}

/**
 * Returns operations that write a site's counts back to the journal in small pieces, as a stream of their own. Nothing is ever
 * added to that stream, and it is folded like a dead node's. Its name is unique, because a node's rows up to `lastSeq` are folded
 * only once. Usage is left out: the fold itself writes it to the rollups, as quotas rely on it.
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

/** Names and ids visited without yielding: 1 to 2 ms. */
const UNITS_PER_TURN = 2_000

/**
 * Applies the day's caps to a site's counts: names past them merge into `(other)`. No ids are left either, as their links are
 * written to `rows` here, with the booked names. So a sender of nothing but new names and containers comes to as few rows as the
 * busiest honest one, and only then is it clear whether they are too many for one transaction.
 *
 * Measured with 37,500 tags in new containers, twice a second: without condensing they were spilled in 19 pieces, and folded by
 * 19 transactions of a thousand rows each; with it by one transaction.
 *
 * Leaves `site` unchanged, because a failed fold is tried again with the same sum.
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
