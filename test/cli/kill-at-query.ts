/**
 * Loaded ahead of a program: kills it, as a power cut would, when it has sent as many queries to PostgreSQL as `KILL_AT` says, counted from
 * the first one whose text has `KILL_FROM` in it. What comes before grows with each new table and is the same in every copy.
 */
import { isMainThread } from 'node:worker_threads'
import pg from 'pg'

const killAt = Number(process.env.KILL_AT)
const killFrom = process.env.KILL_FROM ?? ''

/** The text of what `query` got: the text itself, or an object that has it. */
const textOf = (query: unknown): string =>
  typeof query === 'object' && query !== null && 'text' in query ? String(query.text) : String(query)

if (isMainThread) {
  const { query } = pg.Client.prototype
  let queries = 0
  const counted = function (this: pg.Client, ...args: Parameters<typeof query>) {
    const answer = query.apply(this, args)
    if (queries > 0 || textOf(args[0]).includes(killFrom)) queries++
    // What the socket has taken may still arrive: whether it is done is unknown, as with a real crash.
    if (queries === killAt) process.kill(process.pid, 'SIGKILL')
    return answer
  }
  Object.assign(pg.Client.prototype, { query: counted })
}
