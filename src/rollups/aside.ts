import type { BatchOperation, Store } from '../store/index.ts'
import { absorbTag, addAll, cellAt, Delta, type EventDelta, eventIn, type SiteDelta, tagIn } from './delta.ts'
import { appendDelta, type Log } from './log.ts'
import { Yielder } from './yielder.ts'

/** Units of one site in one fold from which it is set aside: ten milliseconds of work. A busy site has some hundred. */
export const HEAVY_SITE = 4_000
/** Units per piece that is set aside: two or three rows each, in one transaction. */
const UNITS_PER_PIECE = 2_000

/** Separates the id of a stream from the suffix of what was set aside from it. */
const SEPARATOR = '/'

/** Whether the stream holds what a fold set aside: each of its rows is small enough for one transaction. */
export const isAside = (nodeId: string): boolean => nodeId.includes(SEPARATOR)

/** Names and ids in a site's counts: the number of rows of its fold is proportional to them. */
export function unitsOf(site: SiteDelta): number {
  let units = 0
  for (const cell of site.cells) for (const event of cell.events.values()) units += unitsOfEvent(event)
  return units
}

function unitsOfEvent(event: EventDelta): number {
  let units = 1 + event.tags.size
  for (const { ids } of event.tags.values()) units += ids.size
  return units
}

/** The counts to set aside, and their stream. */
export interface Aside {
  /** The fold that sets them aside. */
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
export async function setAside(
  store: Store,
  { nodeId, lastSeq, writtenAt, siteNo, site }: Aside,
): Promise<BatchOperation[]> {
  const stream = [nodeId, lastSeq, siteNo].join(SEPARATOR)
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
        return eventIn(into, name)
      }
      addAll(target().counts, event.counts)
      units++
      for (const [key, tag] of event.tags) {
        absorbTag(tagIn(target(), key), tag)
        units += 1 + tag.ids.size
        if (units >= UNITS_PER_PIECE) yield cut()
      }
      if (units >= UNITS_PER_PIECE) yield cut()
    }
  }
  if (units > 0) yield cut()
}
