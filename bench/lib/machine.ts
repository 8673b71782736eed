import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import type { Pinning } from '../../testkit/processes/node-process.ts'

const TMPFS_MAGIC = 0x01021994
/** Linux counts processor time for `/proc` in hundredths of a second, whatever the kernel's own tick is. */
const TICKS_PER_SECOND = 100

/** What the figures were taken on, as one line. */
export function machineLine(): string {
  const model = cpus()[0]?.model.trim() || 'unknown CPU'
  return `${model}, ${availableParallelism()} cores, ${process.platform}, Node ${process.versions.node}`
}

/** What makes this run's figures mean something else than the same ones elsewhere. */
export function caveats(pins: Pinning, dataFolder: string): string[] {
  const notes: string[] = []
  if (pins.server === null)
    notes.push('Not pinned: `taskset` or a second core is missing, so server and load share cores.')
  if (statfsSync(dataFolder).type === TMPFS_MAGIC) {
    notes.push('The data lay in memory (tmpfs): a commit did not wait for a disk.')
  }
  return notes
}

/** Memory of a process in MB now and at its peak (`/proc`, so Linux only). @throws Error where that is missing. */
export function residentMemory(pid: number): { nowMb: number; peakMb: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (field: string): number => {
    const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
    if (kilobytes === undefined) throw new Error(`/proc/${pid}/status has no ${field}`)
    return (Number(kilobytes) * 1_024) / 1_000_000
  }
  return { nowMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') }
}

/** Memory of a process in MB now; 0 once it has died, as what follows will tell. */
export function memoryIfAlive(pid: number): number {
  try {
    return residentMemory(pid).nowMb
  } catch {
    return 0
  }
}

/** Processor time a process has used, all its threads together, in seconds; NaN where there is no `/proc`. */
export const processorSeconds = (pid: number): number => secondsIn(pid, 2)

/** The same with that of its children that have ended. */
export const processorSecondsWithEnded = (pid: number): number => secondsIn(pid, 4)

/** The times stand side by side: the process's own in user and system mode, then those of ended children. */
function secondsIn(pid: number, times: 2 | 4): number {
  const path = `/proc/${pid}/stat`
  if (!existsSync(path)) return Number.NaN
  const text = readFileSync(path, 'utf8')
  // The second field is the command in brackets, which may hold blanks; the first time is the 14th field.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 11 + times).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
}
