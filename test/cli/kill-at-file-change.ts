/** Loaded ahead of a program: kills it before the change of a folder (or wait for the disk) that `KILL_AT` counts to. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const killAt = Number(process.env.KILL_AT)
let changes = 0

function counted<A extends unknown[]>(change: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    if (++changes === killAt) process.kill(process.pid, 'SIGKILL')
    change(...args)
  }
}

if (isMainThread) {
  Object.assign(fs, {
    fsyncSync: counted(fs.fsyncSync),
    linkSync: counted(fs.linkSync),
    renameSync: counted(fs.renameSync),
  })
  syncBuiltinESMExports()
}
