import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { ConfinedOrder, ConfinedReply, ConfinedSettings, Tasks } from './confined-thread.ts'
import { asError } from './errors.ts'
import { lowerPriority } from './lower-priority.ts'

/** Entry point of the thread behind `ConfinedThread`: runs one task after the other. */
async function serve(port: MessagePort, { module }: ConfinedSettings): Promise<void> {
  const { tasks } = (await import(module)) as { tasks: Tasks }
  const reply = (text: ConfinedReply) => port.postMessage(text)
  port.on('message', ({ id, task, input }: ConfinedOrder) => {
    try {
      const work = tasks[task]
      if (work === undefined) throw new Error(`there is no task ${task}`)
      reply({ kind: 'done', id, value: work(input as never) })
    } catch (thrown) {
      reply({ kind: 'failed', id, message: asError(thrown).message })
    }
  })
  reply({ kind: 'ready' })
}

if (parentPort !== null) {
  lowerPriority()
  await serve(parentPort, workerData as ConfinedSettings)
}
