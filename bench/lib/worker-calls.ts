import { once } from 'node:events'
import type { RunningProcess } from './processes.ts'

type Reply<Result> = { result: Result } | { error: string }

/** In a worker process: answers each plan that the parent sends, and ends with the parent. */
export function answerCalls<Plan, Result>(work: (plan: Plan) => Promise<Result>): void {
  const reply = async (plan: Plan): Promise<Reply<Result>> => {
    try {
      return { result: await work(plan) }
    } catch (thrown) {
      return { error: String(thrown) }
    }
  }
  process.on('message', (plan: Plan) => {
    void reply(plan).then((message) => process.send?.(message))
  })
  process.on('disconnect', () => process.exit())
}

/** In the parent: sends a plan and waits for what came of it; one call at a time. @throws Error when the worker fails. */
export async function callWorker<Plan extends object, Result>(worker: RunningProcess, plan: Plan): Promise<Result> {
  const ended = new AbortController()
  const exit = once(worker.child, 'exit', { signal: ended.signal }).then((): never => {
    throw new Error(worker.state())
  })
  const message = once(worker.child, 'message', { signal: ended.signal })
  worker.child.send(plan)
  try {
    const [reply] = (await Promise.race([message, exit])) as [Reply<Result>]
    if ('error' in reply) throw new Error(reply.error)
    return reply.result
  } finally {
    // The loser of the race is aborted; its rejection is expected.
    exit.catch(() => undefined)
    message.catch(() => undefined)
    ended.abort()
  }
}
