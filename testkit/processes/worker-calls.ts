import type { NodeProcess } from './node-process.ts'

/** The functions that a worker process offers. */
export type Calls = Readonly<Record<string, (...args: never[]) => unknown>>

/** The same functions as the parent sees them. */
export type Remote<C extends Calls> = {
  readonly [Name in keyof C]: C[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never
}

interface Call {
  id: number
  name: string
  args: never[]
}

type Reply = { id: number } & ({ result: unknown } | { error: string })

/** Answers the parent's calls in a worker process, which ends with the parent. */
export function answerCalls(calls: Calls): void {
  const reply = async ({ id, name, args }: Call): Promise<Reply> => {
    try {
      return { id, result: await calls[name]?.(...args) }
    } catch (thrown) {
      return { id, error: String(thrown) }
    }
  }
  process.on('message', (call: Call) => {
    void reply(call).then((message) => process.send?.(message))
  })
  process.on('disconnect', () => process.exit())
}

/** Calls the worker's functions from the parent. A call fails with the worker's error, or when the worker ends. */
export function remote<C extends Calls>(worker: NodeProcess): Remote<C> {
  let calls = 0
  return new Proxy({} as Remote<C>, {
    get: (_, name) => (name === 'then' ? undefined : (...args: never[]) => call(worker, calls++, String(name), args)),
  })
}

function call(worker: NodeProcess, id: number, name: string, args: never[]): Promise<unknown> {
  const { child } = worker
  const { promise, resolve, reject } = Promise.withResolvers()
  const onMessage = (reply: unknown): void => {
    const answer = reply as Reply
    if (answer.id !== id) return
    if ('error' in answer) reject(new Error(answer.error))
    else resolve(answer.result)
  }
  const onExit = (): void => reject(new Error(worker.state()))
  child.on('message', onMessage).once('exit', onExit)
  if (worker.isRunning) child.send({ id, name, args } satisfies Call)
  else onExit()
  return promise.finally(() => child.off('message', onMessage).off('exit', onExit))
}
