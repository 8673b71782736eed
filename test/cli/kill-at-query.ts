/** Loaded ahead of a program: kills it, as a power cut would, when it has sent as many queries to PostgreSQL as `KILL_AT` says. */
import { isMainThread } from 'node:worker_threads'
import pg from 'pg'

const killAt = Number(process.env.KILL_AT)

if (isMainThread) {
  const { query } = pg.Client.prototype
  let queries = 0
  const counted = function (this: pg.Client, ...args: Parameters<typeof query>) {
    const answer = query.apply(this, args)
    // What the socket has taken may still arrive: whether it is done is unknown, as with a real crash.
    if (++queries === killAt) process.kill(process.pid, 'SIGKILL')
    return answer
  }
  Object.assign(pg.Client.prototype, { query: counted })
}
