/** Loaded ahead of a program: at SIGUSR2 it ends the thread that the program started as number `END_THREAD`, counted from 0. */
import { isMainThread, type Worker } from 'node:worker_threads'

const wanted = Number(process.env.END_THREAD)

if (isMainThread) {
  let started = 0
  process.on('worker', (worker: Worker) => {
    if (started++ === wanted) process.once('SIGUSR2', () => void worker.terminate())
  })
}
